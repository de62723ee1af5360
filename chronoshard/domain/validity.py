"""Whether a claimed attempt may still start: the check that counts (invariant 7).

Computed from the head that was read after the claim, never stored, so that a slow process which still writes
rows of an old definition starts nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from chronoshard.domain.identity import SCHEDULE, AttemptKey
from chronoshard.domain.job import Head, Status
from chronoshard.domain.states import State
from chronoshard.domain.trigger import due_ms, is_occurrence


class Refusal(NamedTuple):
    """The final state of an attempt that may not start, and why."""

    state: State
    reason: str


DELETED = Refusal(State.CANCELLED, "job.deleted")
PAUSED = Refusal(State.SKIPPED, "job.paused")
SUPERSEDED = Refusal(State.SKIPPED, "schedule.superseded")


def refusal(head: Head | None, key: AttemptKey, *, generation: int | None) -> Refusal | None:
    """Return why an attempt may not start under this head; None: it may.

    `generation` is that of the attempt's plan. It may be left out for a trigger's first attempts, whose
    generation is that of the timeline's entry which owns their nominal time.
    """
    if head is None or head.status is Status.DELETED:
        return DELETED
    if key.origin != SCHEDULE:
        return PAUSED if (generation or 0) < head.stopped_generation() else None
    entry = head.owner_of(key.nominal_ms)
    if entry is None:
        return SUPERSEDED
    if generation is None:
        generation = entry.generation
    if head.status is Status.DISABLED or generation < head.stopped_generation():
        return PAUSED
    if key.attempt > 0:
        return None  # the run exists by right: its first attempt was checked when it was claimed
    if entry.trigger is None:
        return PAUSED
    if not is_occurrence(entry.trigger, key.nominal_ms, dst=head.dst):
        return SUPERSEDED
    if due_ms(entry.trigger, key.job_id, key.nominal_ms) != key.due_ms:
        return SUPERSEDED
    return None
