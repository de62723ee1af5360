"""Finding a caller's jobs and runs: what is somebody else's is not there (invariant 12)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chronoshard.api.auth import Caller
from chronoshard.api.context import Context
from chronoshard.api.documents import Attempt, of_history, of_row
from chronoshard.domain.attempt import Row, successor
from chronoshard.domain.identity import AttemptKey, Run, parse_run_id
from chronoshard.domain.job import Head, Status
from chronoshard.domain.liveness import Incarnation
from chronoshard.domain.states import State
from chronoshard.errors import NotFound
from chronoshard.ports import Store
from chronoshard.runs import attempts_of, first_keys

_JOB_ID = re.compile(r"[0-9a-f]{32}")


def find_job(context: Context, caller: Caller, job_id: str, *, deleted: bool = False) -> Head:
    """Return a job's head; raise NotFound, also for a deleted job unless `deleted`."""
    head = context.store.jobs.heads([job_id]).get(job_id) if _JOB_ID.fullmatch(job_id) else None
    if head is None or not caller.sees(head.owner) or (head.status is Status.DELETED and not deleted):
        raise NotFound(f"you have no job {job_id[:80]!r}", code="job.not_found")
    return head


def find_run(context: Context, caller: Caller, run_id: str) -> tuple[Run, Head]:
    """Return the run that an id names and its job's head; raise NotFound. The run itself may not be there."""
    run = parse_run_id(run_id)
    head = context.store.jobs.heads([run.job_id]).get(run.job_id)
    if head is None or not caller.sees(head.owner):
        raise no_run(run_id)
    return run, head


def no_run(run_id: str) -> NotFound:
    return NotFound(f"you have no run {run_id[:80]!r}", code="run.not_found")


def rows_or_not_found(context: Context, head: Head, run: Run) -> list[Row]:
    """Return a run's rows of the timetable: empty when only the history has it any more."""
    rows = attempts_of(context.store, head, run)
    if not rows and not context.store.history.of_run(run):
        raise no_run(run.id)
    return rows


def attempts(context: Context, head: Head, run: Run) -> list[Attempt]:
    """Return a run's attempts, from the timetable as long as it has them; raise NotFound."""
    rows = attempts_of(context.store, head, run)
    found = [of_row(row) for row in rows] or [of_history(row) for row in context.store.history.of_run(run)]
    if not found:
        raise no_run(run.id)
    return found


def attempts_of_many(store: Store, wanted: Sequence[tuple[Head, Run]]) -> dict[Run, list[Row]]:
    """Return the rows of several runs at once: as runs.attempts_of, one read per round instead of per run."""
    chains: dict[Run, list[Row]] = {}
    keys = [key for head, run in wanted for key in first_keys(head, run)]
    for row in _present(store, keys):
        before = chains.get(row.key.run)
        if before is None or _rank(row) < _rank(before[0]):
            chains[row.key.run] = [row]
    growing = list(chains.values())
    while growing:
        plans = [plan for rows in growing if (plan := successor(rows[-1])) is not None]
        found = _present(store, [plan.key for plan in plans])
        growing = []
        for row in found:
            chains[row.key.run].append(row)
            growing.append(chains[row.key.run])
    return chains


def running_runs(store: Store, job_id: str | None = None) -> list[Run]:
    """Return the runs that executors have now, of one job or of all."""
    beats = store.executors.beats()
    rows = store.timetable.running_on({Incarnation(beat.executor, beat.incarnation) for beat in beats})
    return sorted({row.key.run for row in rows if job_id is None or row.key.job_id == job_id})


def _present(store: Store, keys: Sequence[AttemptKey]) -> list[Row]:
    return [row for row in store.timetable.rows(keys) if row is not None] if keys else []


def _rank(row: Row) -> tuple[bool, bool]:
    """An edit of the jitter may leave a second first row, superseded: the other one is the run."""
    return (row.state is State.SKIPPED, row.state is None)
