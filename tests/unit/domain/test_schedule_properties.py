"""Whatever the expression, the zone and the policy: the instants are those that brute force finds."""

from __future__ import annotations

import itertools
from typing import NamedTuple

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from chronoshard.domain.timezones import zone_of
from chronoshard.domain.trigger import Cron, Dst, is_occurrence, next_occurrences, occurrences, previous_occurrence
from tests.unit.domain.civil_oracle import Plain, expected
from tests.unit.domain.schedules import DSTS, expressions

HOUR_S = 3_600
DAY_S = 86_400


class Night(NamedTuple):
    """A zone and an instant around which its clocks change."""

    zone: str
    utc_s: int


NIGHTS = (
    Night("Europe/Berlin", 1_774_746_000),  # 2026-03-29, an hour forward
    Night("Europe/Berlin", 1_792_890_000),  # 2026-10-25, an hour back
    Night("America/New_York", 1_772_953_200),
    Night("America/New_York", 1_793_512_800),
    Night("Australia/Lord_Howe", 1_759_591_800),  # half an hour
    Night("Australia/Lord_Howe", 1_743_865_200),
    Night("Africa/Casablanca", 1_740_276_000),  # Ramadan
    Night("Africa/Casablanca", 1_743_904_800),
    Night("Antarctica/Troll", 1_774_746_000),  # two hours
    Night("Antarctica/Troll", 1_792_890_000),
    Night("America/Santiago", 1_775_358_000),  # at midnight: the day before has 25 hours
    Night("America/Santiago", 1_788_667_200),  # at midnight: the day begins at 01:00
    Night("Pacific/Apia", 1_325_239_200),  # 2011-12-30 does not exist
    Night("Asia/Kathmandu", 1_775_001_600),  # three quarters of an hour off, no change
    Night("Africa/Sao_Tome", 1_546_304_400),  # in the first hours of a year
    Night("UTC", 1_767_225_600),  # the turn of a year
)
CASES = given(plain=expressions(any_date=True), night=st.sampled_from(NIGHTS), dst=DSTS)


def found(plain: Plain, night: Night, dst: Dst, *, from_s: int, until_s: int) -> list[int]:
    times = occurrences(Cron(plain.text, night.zone), after_ms=from_s * 1000 - 1, dst=dst)
    near = itertools.takewhile(lambda nominal_ms: nominal_ms < until_s * 1000, times)
    return [nominal_ms // 1000 for nominal_ms in near]


@CASES
@settings(max_examples=150, deadline=None)
def test_around_a_change_of_the_clocks_brute_force_finds_the_same(plain: Plain, night: Night, dst: Dst) -> None:
    from_s, until_s = night.utc_s - 30 * HOUR_S, night.utc_s + 30 * HOUR_S

    by_force = expected(plain, zone_of(night.zone), dst, from_s=from_s, until_s=until_s)

    assert by_force == found(plain, night, dst, from_s=from_s, until_s=until_s)


@given(plain=expressions(), day=st.integers(19_000, 25_000))
@settings(max_examples=60, deadline=None)
def test_dates_match_as_brute_force_says(plain: Plain, day: int) -> None:
    plain = plain._replace(minutes=frozenset({0}), text=plain.text.replace(plain.text.split()[0], "0", 1))
    from_s, until_s = day * DAY_S, (day + 5) * DAY_S

    by_force = expected(plain, zone_of("UTC"), Dst(), from_s=from_s, until_s=until_s)

    assert by_force == found(plain, Night("UTC", 0), Dst(), from_s=from_s, until_s=until_s)


@given(plain=expressions(), night=st.sampled_from(NIGHTS), dst=DSTS)
@settings(max_examples=150, deadline=None)
def test_occurrences_ascend_and_are_occurrences(plain: Plain, night: Night, dst: Dst) -> None:
    trigger = Cron(plain.text, night.zone)

    times = next_occurrences(trigger, after_ms=night.utc_s * 1000, dst=dst, count=20)

    assert sorted(set(times)) == times
    assert all(nominal_ms > night.utc_s * 1000 for nominal_ms in times)
    assert all(is_occurrence(trigger, nominal_ms, dst=dst) for nominal_ms in times)


@CASES
@settings(max_examples=100, deadline=None)
def test_a_minute_is_an_occurrence_exactly_if_it_is_among_them(plain: Plain, night: Night, dst: Dst) -> None:
    trigger = Cron(plain.text, night.zone)
    from_s, until_s = night.utc_s - 4 * HOUR_S, night.utc_s + 4 * HOUR_S

    asked = [s for s in range(from_s, until_s, 60) if is_occurrence(trigger, s * 1000, dst=dst)]

    assert found(plain, night, dst, from_s=from_s, until_s=until_s) == asked


@CASES
@settings(max_examples=150, deadline=None)
def test_the_previous_occurrence_is_the_last_of_those_before(plain: Plain, night: Night, dst: Dst) -> None:
    trigger = Cron(plain.text, night.zone)
    from_s = night.utc_s - 26 * HOUR_S

    for until_s in range(night.utc_s - 2 * HOUR_S, night.utc_s + 4 * HOUR_S, 17 * 60):
        times = found(plain, night, dst, from_s=from_s, until_s=until_s + 1)
        previous_ms = previous_occurrence(
            trigger, at_or_before_ms=until_s * 1000, not_before_ms=from_s * 1000, dst=dst
        )

        assert (times[-1] * 1000 if times else None) == previous_ms


@given(plain=expressions(), night=st.sampled_from(NIGHTS), dst=DSTS, skipped=st.integers(0, 30))
@settings(max_examples=80, deadline=None)
def test_going_on_from_any_occurrence_leads_to_the_same_ones(
    plain: Plain, night: Night, dst: Dst, skipped: int
) -> None:
    trigger = Cron(plain.text, night.zone)
    times = next_occurrences(trigger, after_ms=night.utc_s * 1000, dst=dst, count=40)
    assume(times)
    head, tail = times[: skipped + 1], times[skipped + 1 :]

    assert tail == next_occurrences(trigger, after_ms=head[-1], dst=dst, count=len(tail))
