"""What expressions are read as, and how those that cannot be are refused."""

from __future__ import annotations

import calendar
from collections import Counter
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chronoshard.domain.cron import ALIASES, MAX_LENGTH, civil_times, expanded_for, parse
from chronoshard.errors import InvalidInput

DAY_S = 86_400


def refusal(schedule: str) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        parse(expanded_for(schedule, "job"))
    assert caught.value.pointer == "/trigger/schedule"
    return caught.value


def dates(schedule: str, year: int, month: int) -> list[int]:
    """Return the days of a month that match."""
    fields = parse(schedule)
    start_s = (date(year, month, 1) - date(1970, 1, 1)).days * DAY_S
    return [(time_s - start_s) // DAY_S + 1 for time_s in civil_times(fields, start_s, start_s + 31 * DAY_S)][:31]


@pytest.mark.parametrize(
    ("schedule", "detail"),
    [
        ("20 * * *", '"20 * * *" has 4 fields, needs 5 '),
        ("x", '"x" has 1 field, needs 5 '),
    ],
)
def test_a_wrong_number_of_fields_is_told_with_the_right_one(schedule: str, detail: str) -> None:
    error = refusal(schedule)

    needed = "(minute hour day-of-month month day-of-week) or 6 with seconds first"
    assert ("cron.fields", detail + needed) == (error.code, error.detail)


@pytest.mark.parametrize("schedule", ["", "   ", "* * * * * * *", "@reboot", "@every 5m", "@"])
def test_what_has_no_fields_to_speak_of_is_refused(schedule: str) -> None:
    assert refusal(schedule).code == "cron.fields"


@pytest.mark.parametrize(
    ("schedule", "code", "named"),
    [
        ("61 * * * *", "cron.range", "'61' as its minute"),
        ("* 24 * * *", "cron.range", "'24' as its hour"),
        ("* * 32 * *", "cron.range", "'32' as its day-of-month"),
        ("* * * 13 *", "cron.range", "'13' as its month"),
        ("* * * * 8", "cron.range", "'8' as its day-of-week"),
        ("60 * * * * *", "cron.range", "'60' as its second"),
        ("*/0 * * * *", "cron.range", "'*/0' as its minute"),
        ("-1 * * * *", "cron.range", "'-1' as its minute"),
        ("H(0-99) * * * *", "cron.syntax", "'H(0-99)' as its minute"),
        ("H(9-5) * * * *", "cron.syntax", "'H(9-5)' as its minute"),
        ("1,H * * * *", "cron.syntax", "'1,H' as its minute"),
        ("* * * JANUARY *", "cron.syntax", "'JANUARY' as its month"),
        ("* * * * 5L", "cron.syntax", "'5L' as its day-of-week"),
        ("* * * * 5#6", "cron.syntax", "'5#6' as its day-of-week"),
        ("* * * * 1,5#2", "cron.syntax", "'1,5#2' as its day-of-week"),
        ("* * * * *,5#2", "cron.syntax", "'*,5#2' as its day-of-week"),
        ("* * 1,15W * *", "cron.syntax", "'1,15W' as its day-of-month"),
        ("０ * * * *", "cron.syntax", "as its minute"),
        ("*/61 * * * *", "cron.range", "a step of 61 in the minute"),
        ("* */25 * * *", "cron.range", "a step of 25 in the hour"),
        ("* 9-9 * * *", "cron.range", "the range 9-9 in the hour"),
        ("* * * JAN-jan *", "cron.range", "the range JAN-jan in the month"),
    ],
)
def test_the_field_that_is_wrong_is_named(schedule: str, code: str, named: str) -> None:
    error = refusal(schedule)

    assert code == error.code
    assert named in error.detail
    assert error.hint


@pytest.mark.parametrize(
    "schedule", ["*/60 * * * *", "0 */24 * * *", "0 0 */31 * *", "0 0 1 */12 *", "0 0 * * */7"]
)
def test_a_step_as_long_as_its_field_is_read(schedule: str) -> None:
    assert parse(schedule).minutes == (0,)


@pytest.mark.parametrize("schedule", ["R * * * *", "r/5 * * * *", "* R(0-5) * * *", "0 0 1,R * *"])
def test_random_times_are_refused(schedule: str) -> None:
    assert refusal(schedule).code == "cron.random"


def test_an_expression_of_the_longest_length_is_read_and_a_longer_one_refused() -> None:
    longest = ("0," * MAX_LENGTH)[: MAX_LENGTH - 9] + "0 * * * *"

    assert MAX_LENGTH == len(longest)
    assert (0,) == parse(longest).minutes
    assert refusal(longest + " ").code == "cron.length"
    assert len(refusal("1" * 10_000).detail) < 200


@settings(max_examples=400, deadline=None)
@given(st.lists(st.text("0159*/-,#LWHRJANSUlhw?()x", min_size=1, max_size=8), min_size=5, max_size=6))
def test_whatever_is_written_is_read_or_refused(parts: list[str]) -> None:
    schedule = " ".join(parts)
    try:
        fields = parse(expanded_for(schedule, "job"))
    except InvalidInput as refused:
        code = refused.code
    else:
        code = "cron." if fields.minutes and fields.hours else "empty"
    assert "cron." == code[:5]


@pytest.mark.parametrize("alias", [*ALIASES, "@Daily", " @hourly "])
def test_an_alias_means_its_fields_and_is_kept_as_an_alias(alias: str) -> None:
    name = alias.strip().lower()
    kept = expanded_for(alias, "job")

    assert name == kept
    assert list(civil_times(parse(ALIASES[name]), 0, DAY_S)) == list(civil_times(parse(kept), 0, DAY_S))


def test_blanks_of_any_kind_and_number_are_kept_as_one() -> None:
    assert "0 5 * * MON" == expanded_for(" 0\t5  *\n* MON ", "job")


def test_names_and_numbers_mean_the_same() -> None:
    assert dates("0 0 * 1-3 1-5", 2026, 1) == dates("0 0 * JAN-mar MON-fri", 2026, 1)
    assert dates("0 0 * * 0", 2026, 1) == dates("0 0 * * 7", 2026, 1)


@pytest.mark.parametrize(
    ("schedule", "days"),
    [
        ("0 0 L * *", [28]),
        ("0 0 1,L * *", [1, 28]),
        ("0 0 * * L5", [27]),
        ("0 0 * * 5#2", [13]),
        ("0 0 * * MON#1,FRI#4", [2, 27]),
        ("0 0 * * SUN-SAT#1", [1, 2, 3, 4, 5, 6, 7]),
        ("0 0 ? * WED", [4, 11, 18, 25]),
        ("0 0 13 * FRI", [6, 13, 20, 27]),
        ("0 0 31 * MON", [2, 9, 16, 23]),
        ("0 0 15W * *", [16]),  # a Sunday: the Monday after
        ("0 0 14W * *", [13]),  # a Saturday: the Friday before
        ("0 0 16W * *", [16]),
        ("0 0 1W * *", [2]),
        ("0 0 28W * *", [27]),
        ("0 0 * 3 *", []),
    ],
)
def test_special_days_of_february_2026(schedule: str, days: list[int]) -> None:
    assert days == [day for day in dates(schedule, 2026, 2) if day <= 28]


@pytest.mark.parametrize(
    ("schedule", "year", "month", "day"),
    [
        ("0 0 1W * *", 2026, 8, 3),  # the 1st is a Saturday: not back into July
        ("0 0 31W * *", 2026, 5, 29),  # the 31st is a Sunday: not on into June
        ("0 0 31W * *", 2026, 6, 30),  # June has 30 days
    ],
)
def test_the_nearest_working_day_stays_in_its_month(schedule: str, year: int, month: int, day: int) -> None:
    last = calendar.monthrange(year, month)[1]

    assert [day] == [d for d in range(1, last + 1) if parse(schedule).matches_date(date(year, month, d))]


@pytest.mark.parametrize(
    ("hour", "every"),
    [("*", True), ("*/2", True), ("1-9/2", True), ("3/6", True), ("0-23", True), ("2", False), ("1,2", False)],
)
def test_a_star_or_a_step_in_the_hour_means_real_instants(hour: str, every: bool) -> None:
    assert every == parse(f"*/5 {hour} * * *").every_hour
    assert every == parse(f"30 */5 {hour} * * *").every_hour


def test_a_date_of_another_month_does_not_match() -> None:
    assert [3] == [month for month in range(1, 13) if parse("0 0 1 3 *").matches_date(date(2026, month, 1))]


def test_civil_times_come_in_either_order_and_within_their_bounds() -> None:
    fields = parse("*/20 30 6,18 1 * *")
    times = list(civil_times(fields, 0, 40 * DAY_S))

    assert 12 == len(times)
    assert times == sorted(times)
    assert times[::-1] == list(civil_times(fields, 0, 40 * DAY_S, backwards=True))
    assert times[1:] == list(civil_times(fields, times[0] + 1, 40 * DAY_S))
    assert times[:-1] == list(civil_times(fields, 0, times[-1]))


def test_h_is_always_the_same_for_a_job_and_spread_over_jobs() -> None:
    of_jobs = [expanded_for("H H * * *", f"job-{number}") for number in range(600)]

    assert of_jobs == [expanded_for("H H * * *", f"job-{number}") for number in range(600)]
    assert 60 == len({text.split()[0] for text in of_jobs})
    assert 24 == len({text.split()[1] for text in of_jobs})
    assert max(Counter(of_jobs).values()) <= 6  # of 1,440: minute and hour do not follow from each other


@pytest.mark.parametrize(
    ("given_", "minutes"),
    [("H/15", 4), ("H(0-29)", 1), ("H(0-29)/10", 3), ("h", 1)],
)
def test_h_takes_a_range_and_a_step(given_: str, minutes: int) -> None:
    for number in range(50):
        fields = parse(expanded_for(f"{given_} * * * *", f"job-{number}"))

        assert minutes == len(fields.minutes)
        if "(" in given_:
            assert max(fields.minutes) <= 29


def test_h_in_the_hour_means_a_time_of_the_day_unless_it_has_a_step() -> None:
    assert not parse(expanded_for("0 H * * *", "job")).every_hour
    assert parse(expanded_for("0 H/6 * * *", "job")).every_hour
    assert 6 == len(expanded_for("H H H * * H", "job").split())
