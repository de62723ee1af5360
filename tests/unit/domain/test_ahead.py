"""The occurrences that are always in the timetable."""

from __future__ import annotations

from chronoshard.domain.ahead import AHEAD_COUNT, AHEAD_MS, first_plans, plans_after
from chronoshard.domain.job import Entry
from chronoshard.domain.trigger import Interval, Manual, Once
from tests.unit.domain.builders import EVERY_MINUTE, T0, head

EVERY_SECOND = Interval(every_ms=1_000, start_ms=T0)
DAILY = Interval(every_ms=86_400_000, start_ms=T0)


def test_the_next_five_are_made_however_far_they_are() -> None:
    plans = first_plans(head(DAILY), now_ms=T0 - 60_000)

    assert [T0 + n * 86_400_000 for n in range(AHEAD_COUNT)] == [plan.key.nominal_ms for plan in plans]
    assert list(range(AHEAD_COUNT)) == [plan.ordinal for plan in plans]


def test_all_within_three_minutes_are_made_however_many_they_are() -> None:
    plans = plans_after(head(EVERY_SECOND), nominal_ms=T0, ordinal=0)

    assert AHEAD_MS // 1_000 == len(plans)
    assert [1, AHEAD_MS // 1_000] == [plans[0].ordinal, plans[-1].ordinal]


def test_a_jitter_reaches_further_ahead_since_rows_are_read_that_much_later() -> None:
    jittered = Interval(every_ms=60_000, start_ms=T0, jitter_ms=600_000)

    assert 13 == len(plans_after(head(jittered), nominal_ms=T0, ordinal=0))


def test_a_trigger_makes_no_more_than_its_max_runs() -> None:
    thrice = Interval(every_ms=1_000, start_ms=T0, max_runs=3)

    assert 3 == len(first_plans(head(thrice), now_ms=T0 - 1))
    assert [2] == [plan.ordinal for plan in plans_after(head(thrice), nominal_ms=T0 + 1_000, ordinal=1)]


def test_an_older_trigger_makes_rows_only_for_the_times_that_it_owns() -> None:
    edited = head(timeline=(Entry(T0 - 60_000, 1, EVERY_MINUTE), Entry(T0 + 125_000, 2, DAILY)))

    assert [T0 + 60_000, T0 + 120_000] == [p.key.nominal_ms for p in plans_after(edited, nominal_ms=T0, ordinal=0)]
    assert [2] * AHEAD_COUNT == [plan.generation for plan in first_plans(edited, now_ms=T0)]


def test_a_time_that_nobody_owns_has_no_successors() -> None:
    assert [] == plans_after(head(), nominal_ms=T0 - 120_000, ordinal=0)


def test_a_one_off_job_has_one_row_and_a_manual_or_paused_one_none() -> None:
    paused = head(timeline=(Entry(T0, 1, EVERY_MINUTE), Entry(T0 + 1, 2, None)))

    assert [T0 + 5] == [plan.key.nominal_ms for plan in first_plans(head(Once(T0 + 5)), now_ms=T0)]
    assert [] == first_plans(head(Manual()), now_ms=T0)
    assert [] == first_plans(paused, now_ms=T0)
    assert [] == plans_after(head(Once(T0 + 5)), nominal_ms=T0 + 5, ordinal=0)
