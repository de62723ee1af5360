"""Nominal times of every kind of trigger, their bounds and jitter, and what is refused."""

from __future__ import annotations

from itertools import islice

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chronoshard.domain.trigger import (
    HORIZON_MS,
    MAX_JITTER_MS,
    MAX_MAX_RUNS,
    Cron,
    Dst,
    Interval,
    Manual,
    Now,
    Once,
    Trigger,
    due_ms,
    is_occurrence,
    next_occurrences,
    occurrences,
    previous_occurrence,
    validated,
)
from chronoshard.errors import InvalidInput

NOW = 1_800_000_000_000  # 2027-01-15T08:00Z
SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
DST = Dst()


def refusal(trigger: Trigger) -> tuple[str, str | None]:
    with pytest.raises(InvalidInput) as caught:
        validated(trigger, now_ms=NOW, job_id="job")
    return caught.value.code, caught.value.pointer


def ahead(trigger: Trigger, count: int = 3, *, after_ms: int = NOW) -> list[int]:
    return next_occurrences(trigger, after_ms=after_ms, dst=DST, count=count)


def before(trigger: Trigger, at_ms: int = NOW, *, not_before_ms: int = 0) -> int | None:
    return previous_occurrence(trigger, at_or_before_ms=at_ms, not_before_ms=not_before_ms, dst=DST)


@pytest.mark.parametrize(
    ("trigger", "code", "pointer"),
    [
        (Cron("* * *"), "cron.fields", "/trigger/schedule"),
        (Cron("0 0 30 2 *"), "cron.never", "/trigger/schedule"),
        (Cron("0 0 * 2 MON#5"), "cron.never", "/trigger/schedule"),  # not before 2044
        (Cron("* * * * *", "Mars/Olympus"), "zone.unknown", "/trigger/zone"),
        (Cron("* * * * *", max_runs=0), "trigger.max_runs", "/trigger/max_runs"),
        (Cron("* * * * *", max_runs=MAX_MAX_RUNS + 1), "trigger.max_runs", "/trigger/max_runs"),
        (Cron("* * * * *", jitter_ms=-1), "trigger.jitter", "/trigger/jitter"),
        (Cron("0 0 * * *", jitter_ms=MAX_JITTER_MS + 1), "trigger.jitter", "/trigger/jitter"),
        (Cron("* * * * *", jitter_ms=HOUR), "trigger.jitter", "/trigger/jitter"),
        (Cron("* * * * *", starts_at_ms=NOW + 2, ends_at_ms=NOW + 1), "trigger.bounds", "/trigger/ends_at"),
        (Cron("* * * * *", ends_at_ms=NOW - 1), "trigger.bounds", "/trigger/ends_at"),
        (Cron("0 0 1 1 *", starts_at_ms=NOW + HORIZON_MS), "trigger.bounds", "/trigger/starts_at"),
        (Cron("* * * * *", starts_at_ms=NOW + HORIZON_MS + 1), "trigger.far", "/trigger/starts_at"),
        (Interval(SECOND - 1, NOW), "trigger.every", "/trigger/every"),
        (Interval(0, NOW), "trigger.every", "/trigger/every"),
        (Interval(-SECOND, NOW), "trigger.every", "/trigger/every"),
        (Interval(HORIZON_MS + 1, NOW), "trigger.every", "/trigger/every"),
        (Interval(SECOND, NOW + HORIZON_MS + 1), "trigger.far", "/trigger/start"),
        (Interval(SECOND, NOW, max_runs=-1), "trigger.max_runs", "/trigger/max_runs"),
        (Interval(SECOND, NOW, jitter_ms=HOUR), "trigger.jitter", "/trigger/jitter"),
        (Interval(HOUR, NOW + HOUR, ends_at_ms=NOW + MINUTE), "trigger.bounds", "/trigger/ends_at"),
        (Once(NOW - MINUTE - 1), "trigger.past", "/trigger/at"),
        (Once(NOW + HORIZON_MS + 1), "trigger.far", "/trigger/at"),
    ],
)
def test_what_cannot_be_is_refused_with_the_field_named(trigger: Trigger, code: str, pointer: str) -> None:
    assert (code, pointer) == refusal(trigger)


@pytest.mark.parametrize(
    "trigger",
    [
        Cron("*/5 * * * *", "Europe/Berlin"),
        Cron("@daily"),
        Cron("0 0 29 2 *", jitter_ms=MAX_JITTER_MS),
        Cron("* * * * *", jitter_ms=59 * MINUTE, starts_at_ms=NOW + 1, ends_at_ms=NOW + DAY, max_runs=1),
        Cron("* * * * *", jitter_ms=HOUR, ends_at_ms=NOW + 10 * MINUTE),  # few runs are left: few rows
        Interval(SECOND, NOW, max_runs=MAX_MAX_RUNS),
        Interval(HORIZON_MS, NOW + 1),
        Interval(HOUR, NOW - 10 * DAY),
        Once(NOW - MINUTE),
        Once(NOW + HORIZON_MS),
        Now(NOW),
        Manual(),
    ],
)
def test_what_can_be_is_kept_as_it_is(trigger: Trigger) -> None:
    kept = validated(trigger, now_ms=NOW, job_id="job")

    assert trigger == kept
    assert kept == msgspec.json.decode(msgspec.json.encode(kept), type=Trigger)


def test_h_is_replaced_once_and_for_all_when_a_trigger_is_accepted() -> None:
    kept = validated(Cron(" H  H * * * "), now_ms=NOW, job_id="job")

    assert isinstance(kept, Cron)
    assert "H" not in kept.schedule
    assert kept == validated(kept, now_ms=NOW, job_id="another job")


def test_an_interval_stays_anchored_to_its_start() -> None:
    trigger = Interval(7 * MINUTE, NOW - 3 * MINUTE)

    assert [NOW + 4 * MINUTE, NOW + 11 * MINUTE, NOW + 18 * MINUTE] == ahead(trigger)
    assert [NOW - 3 * MINUTE] == ahead(trigger, 1, after_ms=NOW - DAY)
    assert NOW - 3 * MINUTE == before(trigger)
    assert before(trigger, NOW - 3 * MINUTE - 1) is None
    assert is_occurrence(trigger, NOW - 3 * MINUTE, dst=DST)
    assert not is_occurrence(trigger, NOW - 10 * MINUTE, dst=DST)
    assert [NOW + 4 * MINUTE] == ahead(trigger, 1, after_ms=NOW + 4 * MINUTE - 1)
    assert [NOW + 11 * MINUTE] == ahead(trigger, 1, after_ms=NOW + 4 * MINUTE)


@pytest.mark.parametrize("kind", [Once, Now])
def test_a_single_time_is_one_occurrence(kind: type[Once] | type[Now]) -> None:
    trigger = kind(NOW)

    assert [NOW] == ahead(trigger, after_ms=NOW - 1)
    assert [] == ahead(trigger, after_ms=NOW)
    assert [] == ahead(trigger, after_ms=NOW - HORIZON_MS - 1)
    assert NOW == before(trigger)
    assert before(trigger, NOW - 1) is None
    assert before(trigger, NOW + 5, not_before_ms=NOW + 1) is None
    assert is_occurrence(trigger, NOW, dst=DST)
    assert not is_occurrence(trigger, NOW + 1, dst=DST)


def test_a_manual_trigger_has_no_occurrences() -> None:
    assert [] == ahead(Manual())
    assert before(Manual()) is None
    assert not is_occurrence(Manual(), NOW, dst=DST)
    assert NOW == due_ms(Manual(), "job", NOW)


@pytest.mark.parametrize("unbound", [Cron("* * * * *"), Interval(MINUTE, NOW - HOUR)])
def test_starts_at_and_ends_at_belong_to_the_span(unbound: Cron | Interval) -> None:
    trigger = msgspec.structs.replace(unbound, starts_at_ms=NOW + MINUTE, ends_at_ms=NOW + 3 * MINUTE)
    inside = [NOW + MINUTE, NOW + 2 * MINUTE, NOW + 3 * MINUTE]

    assert inside == ahead(trigger, 9)
    assert inside[1:] == ahead(trigger, 9, after_ms=NOW + MINUTE)
    assert [] == ahead(trigger, 9, after_ms=NOW + 3 * MINUTE)
    assert inside[-1] == before(trigger, NOW + DAY)
    assert before(trigger, NOW) is None
    minutes = range(NOW, NOW + 5 * MINUTE, MINUTE)
    assert inside == [minute for minute in minutes if is_occurrence(trigger, minute, dst=DST)]


def test_a_cron_time_is_a_whole_second() -> None:
    assert is_occurrence(Cron("* * * * *"), NOW, dst=DST)
    assert not is_occurrence(Cron("* * * * *"), NOW + 1, dst=DST)
    assert [NOW + MINUTE] == ahead(Cron("* * * * *"), 1, after_ms=NOW + 999)
    assert [NOW] == ahead(Cron("* * * * *"), 1, after_ms=NOW - 1)
    assert NOW == before(Cron("* * * * *"), NOW + 999)
    assert before(Cron("* * * * *"), NOW + 999, not_before_ms=NOW + 1) is None


@pytest.mark.parametrize("trigger", [Cron("0 0 1 1 *"), Interval(365 * DAY, NOW)])
def test_nothing_is_made_more_than_ten_years_ahead(trigger: Trigger) -> None:
    times = list(occurrences(trigger, after_ms=NOW, dst=DST))

    assert 10 == len(times)
    assert times[-1] <= NOW + HORIZON_MS
    late = msgspec.structs.replace(trigger, starts_at_ms=NOW + 8 * 366 * DAY)  # type: ignore[type-var]
    assert times[-2:] == list(occurrences(late, after_ms=NOW, dst=DST))


def test_leap_days_come_within_the_horizon() -> None:
    assert 3 == len(list(occurrences(Cron("0 0 29 2 *"), after_ms=NOW, dst=DST)))


def test_many_occurrences_are_made_lazily() -> None:
    second_by_second = islice(occurrences(Cron("* * * * * *"), after_ms=NOW, dst=DST), 10_000)

    assert list(range(NOW + SECOND, NOW + 10_001 * SECOND, SECOND)) == list(second_by_second)


def test_the_previous_occurrence_is_found_over_years() -> None:
    assert 951_782_400_000 == before(Cron("0 0 29 2 2"), 951_782_400_000 + DAY - 1)  # 2000-02-29, a Tuesday
    assert before(Cron("0 0 29 2 *"), NOW - 365 * DAY * 3, not_before_ms=NOW - 365 * DAY * 3 - DAY) is None
    assert 1_709_164_800_000 == before(Cron("0 0 29 2 *"), NOW)


@pytest.mark.parametrize("nominal_ms", [-1, -(10**15), 253_402_300_800_000, 2**48 - 1])
def test_a_time_outside_the_calendar_is_no_occurrence(nominal_ms: int) -> None:
    """A run id can name any time: asking about it is no error."""
    assert not is_occurrence(Cron("* * * * * *"), nominal_ms - nominal_ms % 1000, dst=DST)


def test_the_policy_for_changes_of_the_clocks_is_part_of_the_question() -> None:
    trigger = Cron("30 2 * * *", "Europe/Berlin")
    gap_ms = 1_774_746_000_000

    assert is_occurrence(trigger, gap_ms, dst=Dst(gap="run"))
    assert not is_occurrence(trigger, gap_ms, dst=Dst(gap="skip"))


@pytest.mark.parametrize("schedule", ["30 2 * * *", "0,30 2,3 * * *"])
def test_backwards_too_a_run_that_a_gap_shifted_comes_once(schedule: str) -> None:
    trigger, gap_ms = Cron(schedule, "Europe/Berlin"), 1_774_746_000_000

    assert gap_ms == before(trigger, gap_ms)
    assert gap_ms == before(trigger, gap_ms + MINUTE)
    assert gap_ms - DAY < (before(trigger, gap_ms - 1) or 0) < gap_ms - 2 * HOUR


@given(
    st.integers(0, MAX_JITTER_MS), st.text(max_size=40), st.integers(0, 4_000_000_000_000), st.sampled_from("ci")
)
def test_jitter_lies_within_its_bounds_and_is_the_same_for_everybody(
    jitter_ms: int, job_id: str, nominal_ms: int, kind: str
) -> None:
    cron, interval = Cron("* * * * *", jitter_ms=jitter_ms), Interval(MINUTE, 0, jitter_ms=jitter_ms)
    trigger = cron if kind == "c" else interval

    due = due_ms(trigger, job_id, nominal_ms)

    assert 0 <= due - nominal_ms < max(1, jitter_ms)
    assert due == due_ms(trigger, job_id, nominal_ms)
    assert due == due_ms(cron, job_id, nominal_ms) == due_ms(interval, job_id, nominal_ms)


def test_jitter_spreads_the_jobs_of_one_instant() -> None:
    trigger = Cron("* * * * *", jitter_ms=10 * SECOND)

    tenths = {(due_ms(trigger, f"job-{number}", NOW) - NOW) // SECOND for number in range(200)}

    assert set(range(10)) == tenths


@given(
    every_ms=st.integers(SECOND, 400 * DAY),
    start_ms=st.integers(NOW - 400 * DAY, NOW + 400 * DAY),
    after_ms=st.integers(NOW - DAY, NOW + 800 * DAY),
)
def test_intervals_ascend_and_agree_with_each_other(every_ms: int, start_ms: int, after_ms: int) -> None:
    trigger = Interval(every_ms, start_ms)
    times = ahead(trigger, 5, after_ms=after_ms)

    assert sorted(set(times)) == times
    assert all(time_ms > after_ms and is_occurrence(trigger, time_ms, dst=DST) for time_ms in times)
    assert times[1] == before(trigger, times[2] - 1)
    last_ms = before(trigger, after_ms)
    assert last_ms is None or 0 <= after_ms - last_ms < every_ms
