"""The check that counts: after the claim, against the newest head."""

from __future__ import annotations

import msgspec

from chronoshard.domain.job import Entry, Status
from chronoshard.domain.trigger import Interval, Manual, due_ms
from chronoshard.domain.validity import DELETED, PAUSED, SUPERSEDED, refusal
from tests.unit.domain.builders import EVERY_MINUTE, JOB, T0, head, key

RUNNING = Entry(T0 - 60_000, 1, EVERY_MINUTE)
PAUSE = Entry(T0 + 65_000, 2, None)
RESUME = Entry(T0 + 125_000, 3, EVERY_MINUTE)
PAUSED_JOB = head(timeline=(RUNNING, PAUSE), generation=2, status=Status.DISABLED)
RESUMED_JOB = head(timeline=(RUNNING, PAUSE, RESUME), generation=3)


def test_an_occurrence_of_its_trigger_may_start() -> None:
    assert refusal(head(), key(T0 + 60_000), generation=1) is None
    assert refusal(head(), key(T0 + 60_000), generation=None) is None


def test_a_job_that_is_gone_or_deleted_starts_nothing() -> None:
    assert DELETED == refusal(None, key(), generation=1)
    assert DELETED == refusal(head(status=Status.DELETED), key(), generation=1)


def test_a_time_that_the_trigger_does_not_have_is_superseded() -> None:
    assert SUPERSEDED == refusal(head(), key(T0 + 60_001), generation=1)
    assert SUPERSEDED == refusal(head(), key(T0 - 120_000), generation=1)  # before the job was there


def test_a_due_time_of_an_older_jitter_is_superseded() -> None:
    jittered = Interval(every_ms=60_000, start_ms=T0, jitter_ms=30_000)
    due = due_ms(jittered, JOB, T0)

    assert SUPERSEDED == refusal(head(jittered), key(T0, due_ms=due + 1), generation=1)
    assert refusal(head(jittered), key(T0, due_ms=due), generation=1) is None


def test_after_an_edit_each_time_belongs_to_one_trigger() -> None:
    edited = head(
        timeline=(RUNNING, Entry(T0 + 65_000, 2, Interval(every_ms=7_000, start_ms=T0 + 70_000))), generation=2
    )

    assert refusal(edited, key(T0 + 60_000), generation=1) is None
    assert refusal(edited, key(T0 + 77_000), generation=2) is None
    assert SUPERSEDED == refusal(edited, key(T0 + 120_000), generation=1)


def test_nothing_of_a_paused_schedule_starts() -> None:
    assert PAUSED == refusal(PAUSED_JOB, key(T0), generation=1)
    assert PAUSED == refusal(PAUSED_JOB, key(T0 + 120_000), generation=2)
    assert PAUSED == refusal(PAUSED_JOB, key(T0, attempt=1), generation=1)


def test_what_waited_when_the_pause_came_does_not_start_after_the_resume() -> None:
    assert PAUSED == refusal(RESUMED_JOB, key(T0), generation=1)
    assert PAUSED == refusal(RESUMED_JOB, key(T0), generation=None)
    assert PAUSED == refusal(RESUMED_JOB, key(T0, attempt=1), generation=1)
    assert PAUSED == refusal(RESUMED_JOB, key(T0 + 120_000), generation=3)  # within the pause
    assert refusal(RESUMED_JOB, key(T0 + 180_000), generation=3) is None


def test_a_request_starts_when_it_was_accepted_since_the_last_pause() -> None:
    assert PAUSED == refusal(PAUSED_JOB, key(origin=5), generation=1)
    assert PAUSED == refusal(PAUSED_JOB, key(origin=5), generation=None)
    assert refusal(PAUSED_JOB, key(origin=5), generation=2) is None
    assert refusal(head(Manual()), key(origin=5), generation=1) is None


def test_a_retry_needs_no_place_in_the_schedule_it_came_from() -> None:
    edited = head(Manual())
    retried = key(T0 + 13, attempt=1)

    assert refusal(msgspec.structs.replace(edited, generation=2), retried, generation=1) is None
