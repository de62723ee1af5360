"""What a job is doing, as people see it: more than its head says, read from its runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from chronoshard.api.context import Context
from chronoshard.api.documents import Document, next_runs, of_row, run_document
from chronoshard.api.expected import nominals_before, upcoming
from chronoshard.api.finding import attempts_of_many, running_runs
from chronoshard.domain.attempt import Row
from chronoshard.domain.identity import SCHEDULE, Run
from chronoshard.domain.job import Head, Status
from chronoshard.domain.states import run_state
from chronoshard.domain.trigger import Manual

DAY_MS = 86_400_000
_WAITING = frozenset({"pending", "retrying"})
_NONE = Run("", 0, SCHEDULE)


def statuses(context: Context, heads: Sequence[Head]) -> dict[str, str]:
    """Return the status of each job by id, from the last run that its trigger made and from what runs now."""
    running = {run.job_id for run in running_runs(context.store)}
    last = {head.job_id: run for head in heads if (run := _last_scheduled(context, head)) is not None}
    rows = attempts_of_many(context.store, [(head, last[head.job_id]) for head in heads if head.job_id in last])
    now_ms = context.clock.now_ms()
    return {head.job_id: _status(head, rows.get(last.get(head.job_id, _NONE)), running, now_ms) for head in heads}


def job_status(context: Context, head: Head) -> Document:
    """Return the answer to what a job is doing: its status, its last run, its next ones."""
    now_ms = context.clock.now_ms()
    candidates = [_last_scheduled(context, head)]
    candidates += [
        Run(asked.job_id, asked.nominal_ms, asked.origin)
        for asked in context.store.jobs.requests_of(head.job_id, before_ms=now_ms + 1, limit=1)
    ]
    found = attempts_of_many(context.store, [(head, run) for run in candidates if run is not None])
    newest = max(found, key=lambda run: run.nominal_ms, default=None)
    running = {run.job_id for run in running_runs(context.store, head.job_id)}
    told = [_status(head, rows, running, now_ms) for rows in found.values()] or [
        _status(head, None, running, now_ms)
    ]
    status = next((word for word in ("disabled", "running", "pending") if word in told), told[0])
    last = None
    if newest is not None:
        last = run_document(newest, [of_row(row) for row in found[newest]], now_ms=now_ms)
    return {
        "job_id": head.job_id,
        "status": status,
        "reason": head.reason,
        "last_run": last,
        "next_runs": next_runs(head, now_ms=now_ms),
    }


def _last_scheduled(context: Context, head: Head) -> Run | None:
    """Return the newest run that a trigger made and the timetable may still have."""
    now_ms = context.clock.now_ms()
    oldest_ms = now_ms - context.settings.timetable_days * DAY_MS
    found = next(islice(nominals_before(head, before_ms=now_ms + 1, not_before_ms=oldest_ms), 1), None)
    return None if found is None else Run(head.job_id, found, SCHEDULE)


def _status(head: Head, rows: Sequence[Row] | None, running: set[str], now_ms: int) -> str:
    if head.status is not Status.SCHEDULED:
        return head.status.value
    if head.job_id in running:
        return "running"
    state = run_state(rows, now_ms) if rows else None
    if state == "running":
        return state
    if state in _WAITING:
        return "pending"
    if not upcoming(head, after_ms=now_ms, count=1) and not isinstance(head.trigger, Manual):
        return "finished"
    return "scheduled"
