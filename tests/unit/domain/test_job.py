"""Timelines: who owns which time."""

from __future__ import annotations

from chronoshard.domain.job import EDIT_DELAY_MS, TIMELINE_MS, Entry, append_entry, first_entry
from chronoshard.domain.trigger import Manual, Now, Once
from tests.unit.domain.builders import EVERY_MINUTE, T0, head

FIRST = Entry(T0, 1, EVERY_MINUTE)


def test_a_job_begins_when_it_is_created() -> None:
    assert Entry(T0, 1, EVERY_MINUTE) == first_entry(EVERY_MINUTE, now_ms=T0)


def test_a_time_that_has_just_passed_is_owned_from_that_time_on() -> None:
    assert Entry(T0 - 30_000, 1, Once(T0 - 30_000)) == first_entry(Once(T0 - 30_000), now_ms=T0)
    assert Entry(T0, 1, Now(T0)) == first_entry(Now(T0), now_ms=T0)
    assert Entry(T0, 1, Once(T0 + 9)) == first_entry(Once(T0 + 9), now_ms=T0)


def test_an_edit_holds_five_seconds_later_and_never_before_an_earlier_one() -> None:
    once = append_entry((FIRST,), None, generation=2, now_ms=T0 + 10_000)
    twice = append_entry(once, Manual(), generation=3, now_ms=T0 + 9_000)

    assert Entry(T0 + 10_000 + EDIT_DELAY_MS, 2, None) == once[-1]
    assert Entry(T0 + 10_000 + EDIT_DELAY_MS, 3, Manual()) == twice[-1]


def test_what_is_too_old_to_matter_is_forgotten_but_for_the_entry_that_owns_the_oldest_time() -> None:
    timeline = (FIRST, Entry(T0 + 1, 2, None), Entry(T0 + 2, 3, EVERY_MINUTE))
    later = append_entry(timeline, None, generation=4, now_ms=T0 + TIMELINE_MS + 60_000)

    assert [3, 4] == [entry.generation for entry in later]


def test_the_owner_of_a_time_is_the_last_entry_before_it() -> None:
    job = head(timeline=(FIRST, Entry(T0 + 100, 2, None), Entry(T0 + 100, 3, Manual())))

    assert job.owner_of(T0 - 1) is None
    assert FIRST == job.owner_of(T0 + 99)
    assert job.timeline[2] == job.owner_of(T0 + 100)
    assert Manual() == job.trigger
    assert 2 == job.stopped_generation()
    assert 0 == head().stopped_generation()
