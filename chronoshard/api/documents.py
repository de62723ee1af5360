"""What clients see of jobs, runs and attempts, by the contract's names. Pure: everything is passed in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from chronoshard.api.expected import upcoming
from chronoshard.api.text import duration, optional_rfc3339, rfc3339
from chronoshard.domain.attempt import Output, Row
from chronoshard.domain.history import HistoryRow
from chronoshard.domain.identity import SCHEDULE, Run
from chronoshard.domain.job import Head, Spec
from chronoshard.domain.states import Cause, State, run_state
from chronoshard.domain.trigger import Cron, Interval, Manual, Now, Once, Trigger

NEXT_RUNS = 5

Document = dict[str, Any]


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt, wherever it was read: a row of the timetable, or what the history keeps of it."""

    attempt: int
    state: State | None
    cause: Cause
    due_ms: int
    started_ms: int | None = None
    finished_ms: int | None = None
    executor: str | None = None
    exit_code: int | None = None
    error: str | None = None
    reason: str | None = None
    generation: int | None = None
    output: Output | None = None
    next_due_ms: int | None = None
    cancel_requested: bool = False


def of_row(row: Row) -> Attempt:
    return Attempt(
        attempt=row.key.attempt,
        state=row.state,
        cause=row.cause,
        due_ms=row.key.due_ms,
        started_ms=row.started_ms,
        finished_ms=row.finished_ms,
        executor=row.executor,
        exit_code=row.exit_code,
        error=row.error,
        reason=row.reason,
        generation=row.generation_ran,
        output=row.output,
        next_due_ms=row.next_due_ms,
        cancel_requested=row.cancel_requested,
    )


def of_history(row: HistoryRow) -> Attempt:
    return Attempt(
        attempt=row.attempt,
        state=row.state,
        cause=row.cause,
        due_ms=row.due_ms,
        started_ms=row.started_ms,
        finished_ms=row.finished_ms,
        executor=row.executor,
        exit_code=row.exit_code,
        error=row.error,
        reason=row.reason,
        generation=row.generation,
        output=row.output,
        next_due_ms=row.next_due_ms,
    )


def run_document(run: Run, attempts: Sequence[Attempt], *, now_ms: int) -> Document:
    """Return a run with its attempts, which are at least one."""
    return {
        "run_id": run.id,
        "job_id": run.job_id,
        "nominal_time": rfc3339(run.nominal_ms),
        "origin": "schedule" if run.origin == SCHEDULE else "request",
        "state": run_state(attempts, now_ms),
        "attempts": [_attempt(attempt) for attempt in attempts],
    }


def _attempt(attempt: Attempt) -> Document:
    output = attempt.output
    lateness_ms = None if attempt.started_ms is None else attempt.started_ms - attempt.due_ms
    return {
        "attempt": attempt.attempt,
        "state": attempt_state(attempt),
        "cause": attempt.cause.value,
        "due": rfc3339(attempt.due_ms),
        "started": optional_rfc3339(attempt.started_ms),
        "finished": optional_rfc3339(attempt.finished_ms),
        "executor": attempt.executor,
        "exit_code": attempt.exit_code,
        "error": attempt.error,
        "reason": attempt.reason,
        "generation": attempt.generation,
        "lateness_ms": lateness_ms,
        "cancel_requested": attempt.cancel_requested,
        "next_due": optional_rfc3339(attempt.next_due_ms),
        "output": None if output is None else msgspec.structs.asdict(output),
    }


def attempt_state(attempt: Attempt) -> str:
    """Return the state of one attempt: `waiting` until somebody takes it."""
    return "waiting" if attempt.state is None else attempt.state.value.lower()


def job_document(head: Head, spec: Spec, *, now_ms: int, status: str | None = None) -> Document:
    """Return a job; `status` where it is more than the head says."""
    document: Document = {
        "job_id": head.job_id,
        "name": head.name,
        "status": status or head.status.value,
        "reason": head.reason,
        "generation": head.generation,
        "trigger": trigger_document(spec.trigger, head),
        "runtime": spec.runtime,
        "task_id": spec.task_id or None,
        "http": None if spec.http is None else http_document(spec),
        "params": msgspec.Raw(spec.params),
        "priority": f"P{head.priority}",
        "retries": {
            "max": spec.retries.max,
            "delay": duration(spec.retries.delay_ms),
            "backoff": spec.retries.backoff,
            "max_delay": duration(spec.retries.max_delay_ms),
        },
        "timeout": duration(spec.timeout_ms),
        "catchup": {"mode": head.catchup.mode, "window": duration(head.catchup.window_ms)},
        "overlap": head.overlap,
        "dst": {"gap": head.dst.gap, "overlap": head.dst.overlap},
        "tags": head.tags,
        "created_at": rfc3339(head.created_ms),
        "updated_at": rfc3339(head.updated_ms),
        "next_runs": next_runs(head, now_ms=now_ms),
    }
    if isinstance(spec.trigger, Now | Once):
        document["run_id"] = Run(head.job_id, spec.trigger.at_ms, SCHEDULE).id
    return document


def next_runs(head: Head, *, now_ms: int) -> list[str]:
    """Return the next nominal times; jitter comes on top of them."""
    return [rfc3339(nominal_ms) for nominal_ms in upcoming(head, after_ms=now_ms, count=NEXT_RUNS)]


def http_document(spec: Spec) -> Document:
    call = spec.http
    assert call is not None
    return {"url": call.url, "method": call.method, "headers": call.headers, "body": call.body}


def trigger_document(trigger: Trigger, head: Head) -> Document:
    """Return a trigger as it was given, so that sending it back changes nothing."""
    match trigger:
        case Cron():
            return {"kind": "cron", "schedule": trigger.schedule, "zone": trigger.zone, **_bounds(trigger)}
        case Interval(every_ms=every_ms, start_ms=start_ms):
            given = start_ms not in {entry.from_ms + every_ms for entry in head.timeline}
            start = {"start": rfc3339(start_ms)} if given else {}
            return {"kind": "interval", "every": duration(every_ms), **start, **_bounds(trigger)}
        case Once(at_ms=at_ms):
            return {"kind": "once", "at": rfc3339(at_ms)}
        case Now():
            return {"kind": "now"}
        case Manual():
            return {"kind": "manual"}


def _bounds(trigger: Cron | Interval) -> Document:
    given = {
        "starts_at": optional_rfc3339(trigger.starts_at_ms),
        "ends_at": optional_rfc3339(trigger.ends_at_ms),
        "max_runs": trigger.max_runs,
        "jitter": duration(trigger.jitter_ms) if trigger.jitter_ms else None,
    }
    return {field: value for field, value in given.items() if value is not None}
