"""Which runs a job's timeline asks for: the same question for the next runs, for lists, and for the ledger's proof.

Only the trigger that owns a nominal time counts, so every edit, pause and resume is in the answer by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from chronoshard.domain.job import Entry, Head
from chronoshard.domain.trigger import (
    Cron,
    Dst,
    Interval,
    due_ms,
    occurrences,
    previous_occurrence,
)

MIN_SPACING_MS = 1_000  # no trigger fires more often


class Span(NamedTuple):
    """The nominal times in [from, until) that one entry of a timeline owns; until None: the future."""

    entry: Entry
    from_ms: int
    until_ms: int | None


def spans(head: Head) -> list[Span]:
    """Return the spans of a timeline, oldest first. One that a later edit of the same instant took over is empty."""
    starts = [entry.from_ms for entry in head.timeline]
    ends: list[int | None] = [*starts[1:], None]
    return [Span(entry, entry.from_ms, end) for entry, end in zip(head.timeline, ends, strict=True)]


def nominals(head: Head, *, after_ms: int) -> Iterator[tuple[int, Entry]]:
    """Yield the nominal times after `after_ms` with the entry that owns each, ascending."""
    for entry, from_ms, until_ms in spans(head):
        if entry.trigger is None or (until_ms is not None and until_ms <= after_ms):
            continue
        for nominal_ms in occurrences(entry.trigger, after_ms=max(after_ms, from_ms - 1), dst=head.dst):
            if (until_ms is not None and nominal_ms >= until_ms) or not _is_counted(entry, head.dst, nominal_ms):
                break
            yield nominal_ms, entry


def upcoming(head: Head, *, after_ms: int, count: int) -> list[int]:
    """Return the next nominal times of a job, at most `count`."""
    return [nominal_ms for nominal_ms, _ in islice(nominals(head, after_ms=after_ms), count)]


def nominals_before(head: Head, *, before_ms: int, not_before_ms: int) -> Iterator[int]:
    """Yield the nominal times in [not_before, before), newest first; some past a trigger's max_runs too."""
    for entry, from_ms, until_ms in reversed(spans(head)):
        low_ms = max(from_ms, not_before_ms)
        high_ms = (before_ms if until_ms is None else min(until_ms, before_ms)) - 1
        while entry.trigger is not None and high_ms >= low_ms:
            found = previous_occurrence(entry.trigger, at_or_before_ms=high_ms, not_before_ms=low_ms, dst=head.dst)
            if found is None:
                break
            yield found
            high_ms = found - 1


def due_of(entry: Entry, job_id: str, nominal_ms: int) -> int:
    assert entry.trigger is not None
    return due_ms(entry.trigger, job_id, nominal_ms)


def _is_counted(entry: Entry, dst: Dst, nominal_ms: int) -> bool:
    """Say whether an occurrence is among the first `max_runs` of its trigger."""
    max_runs = entry.trigger.max_runs if isinstance(entry.trigger, Cron | Interval) else None
    if max_runs is None or nominal_ms - entry.from_ms < max_runs * MIN_SPACING_MS:
        return True
    last_ms = _last_ms(entry, dst, max_runs)
    return last_ms is None or nominal_ms <= last_ms


@lru_cache(maxsize=4_096)
def _last_ms(entry: Entry, dst: Dst, max_runs: int) -> int | None:
    """Return the nominal time of a trigger's last run; None when it has fewer occurrences."""
    assert entry.trigger is not None
    return next(islice(occurrences(entry.trigger, after_ms=entry.from_ms - 1, dst=dst), max_runs - 1, None), None)
