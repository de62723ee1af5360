"""Which occurrences have to be in the timetable before they are due.

The next AHEAD_COUNT occurrences of every recurring job, and all within AHEAD_MS, are always there. Each row that
is read makes the ones after it, so the chain never breaks, also in catch-up.
"""

from __future__ import annotations

from collections.abc import Iterator

from chronoshard.domain.attempt import Plan
from chronoshard.domain.identity import SCHEDULE, AttemptKey
from chronoshard.domain.job import Entry, Head
from chronoshard.domain.states import Cause
from chronoshard.domain.trigger import Cron, Interval, due_ms, occurrences

AHEAD_COUNT = 5
AHEAD_MS = 180_000


def first_plans(head: Head, *, now_ms: int) -> list[Plan]:
    """Return the first rows of the trigger that owns a job's future; none when it is paused or manual."""
    entry = head.timeline[-1]
    horizon_ms = max(now_ms, entry.from_ms) + _reach_ms(entry)
    return _plans(head, entry, None, after_ms=entry.from_ms - 1, ordinal=0, horizon_ms=horizon_ms)


def plans_after(head: Head, *, nominal_ms: int, ordinal: int) -> list[Plan]:
    """Return the rows that must be there when the row of `nominal_ms` is read.

    `ordinal` is that row's. Only the span of the trigger that owns `nominal_ms` is looked at: the rows of the
    next one were made when it was appended.
    """
    for position, entry in enumerate(head.timeline):
        following = head.timeline[position + 1] if position + 1 < len(head.timeline) else None
        if entry.from_ms <= nominal_ms and (following is None or nominal_ms < following.from_ms):
            until_ms = following.from_ms if following is not None else None
            horizon_ms = nominal_ms + _reach_ms(entry)
            return _plans(head, entry, until_ms, after_ms=nominal_ms, ordinal=ordinal + 1, horizon_ms=horizon_ms)
    return []


def _reach_ms(entry: Entry) -> int:
    """A row with jitter may be read that much later than its nominal time: its successors must not wait."""
    jitter_ms = entry.trigger.jitter_ms if isinstance(entry.trigger, Cron | Interval) else 0
    return AHEAD_MS + jitter_ms


def _plans(
    head: Head, entry: Entry, until_ms: int | None, *, after_ms: int, ordinal: int, horizon_ms: int
) -> list[Plan]:
    plans: list[Plan] = []
    for nominal_ms in _nominals(head, entry, until_ms, after_ms=after_ms, ordinal=ordinal):
        if len(plans) >= AHEAD_COUNT and nominal_ms > horizon_ms:
            break
        plans.append(_plan(head, entry, nominal_ms, ordinal + len(plans)))
    return plans


def _nominals(head: Head, entry: Entry, until_ms: int | None, *, after_ms: int, ordinal: int) -> Iterator[int]:
    trigger = entry.trigger
    if trigger is None:
        return
    max_runs = trigger.max_runs if isinstance(trigger, Cron | Interval) else None
    for number, nominal_ms in enumerate(occurrences(trigger, after_ms=after_ms, dst=head.dst)):
        if until_ms is not None and nominal_ms >= until_ms:
            return
        if max_runs is not None and ordinal + number >= max_runs:
            return
        yield nominal_ms


def _plan(head: Head, entry: Entry, nominal_ms: int, ordinal: int) -> Plan:
    assert entry.trigger is not None
    key = AttemptKey(due_ms(entry.trigger, head.job_id, nominal_ms), head.job_id, nominal_ms, SCHEDULE, 0)
    return Plan(key, head.owner, Cause.SCHEDULE, entry.generation, ordinal)
