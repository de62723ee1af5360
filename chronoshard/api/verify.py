"""The ledger's proof over a window: every due occurrence has a row or a recorded skip, and every row an end.

Asked from the two sides: what the timelines of all jobs expect, and what the timetable holds. Nothing is taken
from totals that somebody wrote down earlier (invariant 3).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from chronoshard.api.context import Context
from chronoshard.api.documents import Document
from chronoshard.api.expected import due_of, nominals
from chronoshard.api.text import rfc3339
from chronoshard.domain.attempt import Row, successor
from chronoshard.domain.identity import SCHEDULE, AttemptKey, Partition, Run, minute_of
from chronoshard.domain.job import Head, Skipped, Status
from chronoshard.domain.ledger import Totals, add, totals
from chronoshard.errors import InvalidInput

DAY_MS = 86_400_000
YOUNG_MS = 120_000  # what has been due for less may still be on its way
PAGE = 1_000
HEADS = 200
MAX_PROBLEMS = 1_000  # as many are listed; `problem_count` has them all


class Window(NamedTuple):
    """Due times in [from, to). `now_ms` is when the question was asked."""

    from_ms: int
    to_ms: int
    now_ms: int


class _Findings:
    def __init__(self) -> None:
        self.listed: list[Document] = []
        self.count = 0

    def add(self, run: Run, problem: str, detail: str) -> None:
        self.count += 1
        if len(self.listed) < MAX_PROBLEMS:
            self.listed.append({"run_id": run.id, "job_id": run.job_id, "problem": problem, "detail": detail})


def window_of(context: Context, from_ms: int | None, to_ms: int | None) -> Window:
    """Return the window asked for: without bounds all that the timetable keeps, until now. Raises InvalidInput."""
    now_ms = context.clock.now_ms()
    oldest_ms = now_ms - context.settings.timetable_days * DAY_MS
    low_ms = oldest_ms if from_ms is None else max(from_ms, oldest_ms)
    high_ms = now_ms if to_ms is None else min(to_ms, now_ms)
    if from_ms is not None and to_ms is not None and to_ms < from_ms:
        raise InvalidInput("`to` is before `from`", code="window.order", pointer="/to")
    return Window(low_ms, max(low_ms, high_ms), now_ms)


def verify(context: Context, window: Window) -> Document:
    """Return counts of what was due in the window and every problem that is found."""
    counted, occurrences, problems = Totals(), 0, _Findings()
    for shard in range(context.settings.shards):
        rows = _rows(context, shard, window)
        counted = add(counted, totals(rows.values()))
        for row in rows.values():
            _check_row(row, rows, window, problems)
        for head in _heads(context, shard):
            occurrences += _check_job(context, head, window, rows, problems)
    return {
        "from": rfc3339(window.from_ms),
        "to": rfc3339(window.to_ms),
        "ok": problems.count == 0,
        "occurrences": occurrences,
        "rows": counted.rows,
        "succeeded": counted.succeeded,
        "failed": counted.failed,
        "skipped": counted.skipped,
        "lost": counted.lost,
        "cancelled": counted.cancelled,
        "open": counted.open,
        "problem_count": problems.count,
        "problems": problems.listed,
    }


def _rows(context: Context, shard: int, window: Window) -> dict[AttemptKey, Row]:
    """Return the rows of a shard that were due in the window."""
    found: dict[AttemptKey, Row] = {}
    until = minute_of(window.to_ms) + 1
    partitions = context.store.iter_partitions(shard, from_minute=minute_of(window.from_ms), until_minute=until)
    for partition in partitions:
        for row in _partition(context, partition):
            if window.from_ms <= row.key.due_ms < window.to_ms:
                found[row.key] = row
    return found


def _partition(context: Context, partition: Partition) -> Iterator[Row]:
    after: AttemptKey | None = None
    while True:
        page = context.store.timetable.page(partition, after=after, limit=PAGE)
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1].key


def _heads(context: Context, shard: int) -> Iterator[Head]:
    after = ""
    while True:
        page = context.store.jobs.scan(shard, after=after, limit=HEADS)
        yield from page
        if len(page) < HEADS:
            return
        after = page[-1].job_id


def _check_row(row: Row, rows: dict[AttemptKey, Row], window: Window, problems: _Findings) -> None:
    """A row is final, running, or young; what its end owed is there too."""
    if row.state is None and row.key.due_ms < window.now_ms - YOUNG_MS:
        since = rfc3339(row.key.due_ms)
        problems.add(row.key.run, "not started", f"attempt {row.key.attempt} has been due since {since}")
    owed = successor(row)
    old_ms = min(window.to_ms, window.now_ms - YOUNG_MS)
    if owed is not None and owed.key.due_ms < old_ms and owed.key not in rows:
        problems.add(row.key.run, "missing", f"attempt {owed.key.attempt} was owed, and has no row")


def _check_job(
    context: Context, head: Head, window: Window, rows: dict[AttemptKey, Row], problems: _Findings
) -> int:
    """Look for each occurrence that the job's timeline expects; return how many there are."""
    if head.status is Status.DELETED and head.timeline[-1].from_ms <= window.from_ms:
        return 0
    low_ms = max(window.from_ms, head.timeline[0].from_ms)
    skipped: list[Skipped] | None = None
    count = 0
    expected = nominals(head, after_ms=low_ms - 1)
    for nominal_ms, entry in takewhile(lambda one: one[0] < window.to_ms, expected):
        due_ms = due_of(entry, head.job_id, nominal_ms)
        if due_ms >= window.to_ms:
            continue
        count += 1
        if AttemptKey(due_ms, head.job_id, nominal_ms, SCHEDULE, 0) in rows:
            continue
        if due_ms >= window.now_ms - YOUNG_MS:
            continue
        if skipped is None:
            skipped = context.store.jobs.skipped(head.job_id)
        if not any(one.from_ms <= nominal_ms < one.until_ms for one in skipped):
            run = Run(head.job_id, nominal_ms, SCHEDULE)
            problems.add(run, "missing", f"due at {rfc3339(due_ms)}, and neither a row nor a skip is there")
    return count
