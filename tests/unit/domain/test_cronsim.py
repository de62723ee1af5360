"""cronsim, which follows Debian's cron, says the same; each difference is meant, with its reason."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice

import pytest
from cronsim import CronSim, CronSimError
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from chronoshard.domain.timezones import zone_of
from chronoshard.domain.trigger import HORIZON_MS, Cron, Dst, next_occurrences
from chronoshard.errors import InvalidInput
from tests.unit.domain.civil_oracle import Plain
from tests.unit.domain.schedules import expressions
from tests.unit.domain.test_schedule_properties import NIGHTS, Night

DAY_S = 86_400
COUNT = 25
WHOLE_HOURS = tuple(night for night in NIGHTS if night.zone != "Australia/Lord_Howe")


def cronsim(text: str, zone: str, after_s: int, count: int = COUNT) -> list[int]:
    start = datetime.fromtimestamp(after_s, UTC if zone == "UTC" else zone_of(zone))
    return [int(time.timestamp()) * 1000 for time in islice(CronSim(text, start), count)]


def ours(text: str, zone: str, after_s: int, count: int = COUNT) -> list[int]:
    return next_occurrences(Cron(text, zone), after_ms=after_s * 1000, dst=Dst(), count=count)


def local(times_ms: list[int], zone: str) -> list[str]:
    return [f"{datetime.fromtimestamp(time_ms / 1000, zone_of(zone)):%d %H:%M%z}" for time_ms in times_ms]


@given(plain=expressions(date_steps=False), day=st.integers(19_000, 25_000))
@settings(max_examples=200, deadline=None)
def test_in_utc_cronsim_says_the_same(plain: Plain, day: int) -> None:
    horizon_ms = day * DAY_S * 1000 + HORIZON_MS  # nothing is made further ahead, while cronsim goes on

    theirs = [time_ms for time_ms in cronsim(plain.text, "UTC", day * DAY_S) if time_ms <= horizon_ms]

    assert theirs == ours(plain.text, "UTC", day * DAY_S)


@given(plain=expressions(any_date=True), night=st.sampled_from(WHOLE_HOURS))
@settings(max_examples=200, deadline=None)
def test_where_clocks_change_cronsim_says_the_same(plain: Plain, night: Night) -> None:
    minute, hour, *_ = plain.text.split()
    assume(hour.startswith("*") == plain.every_hour)  # differences 2 and 3
    assume(plain.every_hour or not minute.startswith("*"))  # difference 4
    after_s = night.utc_s - DAY_S // 4

    assert cronsim(plain.text, night.zone, after_s) == ours(plain.text, night.zone, after_s)


def test_difference_1_a_step_restricts_the_date_like_any_other_field() -> None:
    """Debian wants both fields to match when one begins with a star, as in */10; we, like croniter, either."""
    january_s = 1_767_225_600

    assert ["11 00:00+0000", "01 00:00+0000"] == local(cronsim("0 0 */10 * 1", "UTC", january_s, 2), "UTC")
    assert ["05 00:00+0000", "11 00:00+0000"] == local(ours("0 0 */10 * 1", "UTC", january_s, 2), "UTC")


def test_difference_2_a_step_without_a_star_means_real_instants_too() -> None:
    """Debian looks for a star; 0-23/2 and */2 are the same hours, and should not differ twice a year."""
    berlin = NIGHTS[1]
    after_s = berlin.utc_s - 2 * 3_600

    assert ["25 02:10+0200", "25 04:10+0100"] == local(
        cronsim("10 0-23/2 * * *", berlin.zone, after_s, 2), berlin.zone
    )
    assert ["25 02:10+0200", "25 02:10+0100"] == local(
        ours("10 0-23/2 * * *", berlin.zone, after_s, 2), berlin.zone
    )
    assert ours("10 */2 * * *", berlin.zone, after_s) == ours("10 0-23/2 * * *", berlin.zone, after_s)


def test_difference_3_all_hours_written_out_are_a_star() -> None:
    """Same reason: 0-23 is every hour."""
    berlin = NIGHTS[1]
    after_s = berlin.utc_s - 3_600

    assert ["25 02:10+0200", "25 03:10+0100"] == local(
        cronsim("10 0-23 * * *", berlin.zone, after_s, 2), berlin.zone
    )
    assert ["25 02:10+0200", "25 02:10+0100"] == local(ours("10 0-23 * * *", berlin.zone, after_s, 2), berlin.zone)


@pytest.mark.parametrize(
    ("night", "theirs", "own"),
    [
        (NIGHTS[0], ["30 02:00+0200", "30 02:30+0200"], ["29 03:00+0200", "30 02:00+0200"]),
        (NIGHTS[1], ["25 02:00+0100", "25 02:30+0100"], ["26 02:00+0100", "26 02:30+0100"]),
    ],
)
def test_difference_4_a_star_in_the_minutes_of_a_fixed_hour_changes_nothing(
    night: Night, theirs: list[str], own: list[str]
) -> None:
    """Debian skips it in a gap and runs it in both passes; the hour alone says that a time of day is meant."""
    after_s = night.utc_s - 60

    assert theirs == local(cronsim("*/30 2 * * *", night.zone, after_s, 2), night.zone)
    assert own == local(ours("*/30 2 * * *", night.zone, after_s, 2), night.zone)


def test_difference_5_seconds_do_not_change_what_an_hour_means() -> None:
    """cronsim shifts nothing that has six fields; a gap swallows 0 30 2 * * * there."""
    berlin = NIGHTS[0]
    after_s = berlin.utc_s - 60

    assert ["30 02:30+0200"] == local(cronsim("0 30 2 * * *", berlin.zone, after_s, 1), berlin.zone)
    assert ["29 03:00+0200"] == local(ours("0 30 2 * * *", berlin.zone, after_s, 1), berlin.zone)


def test_difference_6_half_an_hour_of_daylight_saving_loses_nothing() -> None:
    """cronsim goes on by whole hours of real time, from 01:00 over 01:30 to 12:30 that day, and misses 12:00."""
    lord_howe = NIGHTS[5]
    after_s = lord_howe.utc_s - 72 * 60

    assert ["06 12:36+1030"] == local(cronsim("*/12 */12 * * *", lord_howe.zone, after_s, 1), lord_howe.zone)
    assert ["06 12:00+1030"] == local(ours("*/12 */12 * * *", lord_howe.zone, after_s, 1), lord_howe.zone)


def test_difference_7_a_range_may_go_over_midnight_or_the_turn_of_a_year() -> None:
    """croniter reads 22-2 as everybody means it; cronsim refuses it."""
    with pytest.raises(CronSimError):
        cronsim("0 22-2 * * *", "UTC", 0)
    assert ours("0 0,1,2,22,23 * * *", "UTC", 0) == ours("0 22-2 * * *", "UTC", 0)
    assert ours("0 0 1 11,12,1 *", "UTC", 0) == ours("0 0 1 NOV-JAN *", "UTC", 0)


def test_difference_8_a_range_of_one_is_refused() -> None:
    """cronsim reads 9-9 as one hour, croniter as all of them: whoever writes it shall say which."""
    assert ["01 09:00+0000", "02 09:00+0000"] == local(cronsim("0 9-9 * * *", "UTC", 0, 2), "UTC")
    with pytest.raises(InvalidInput, match="9-9"):
        ours("0 9-9 * * *", "UTC", 0)


def test_difference_9_the_last_friday_is_written_as_the_library_reads_it() -> None:
    """cronsim: 5L; croniter: L5."""
    assert cronsim("0 0 * * 5L", "UTC", 1_767_225_600) == ours("0 0 * * L5", "UTC", 1_767_225_600)
    with pytest.raises(InvalidInput):
        ours("0 0 * * 5L", "UTC", 0)


@pytest.mark.parametrize(
    "text", ["0 0 L * *", "0 0 * * 5#2", "0 0 * * MON#1,FRI#3", "0 0 13 * FRI", "0 0 L * MON#1", "5/20 3 * * *"]
)
def test_special_forms_that_both_know_mean_the_same(text: str) -> None:
    assert cronsim(text, "UTC", 1_767_225_600) == ours(text, "UTC", 1_767_225_600)
