"""Takes results from executors to final states; what follows from them is done by a thread of its own.

A result counts once: the end names the claim's token, so what comes from an attempt that was given up, or comes
twice, is refused and forgotten (invariant 5).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence

import msgspec
import structlog

from chronoshard.batches import apply_all, by_partition
from chronoshard.domain.attempt import End, Row
from chronoshard.domain.job import Head, Spec
from chronoshard.domain.retry import RetryPolicy, decide
from chronoshard.domain.states import State
from chronoshard.failpoints import failpoint
from chronoshard.following import Following
from chronoshard.link import Result
from chronoshard.orchestrator.live import Live
from chronoshard.ports import Store
from chronoshard.service import Service

log = structlog.get_logger(__name__)

MAX_FOLLOWED = 500  # final rows whose consequences are written together


class _Known(msgspec.Struct):
    """A result with the row it ends and the job's head and spec that ran."""

    result: Result
    row: Row
    head: Head | None
    spec: Spec | None


class Results:
    def __init__(self, name: str, store: Store, following: Following, live: Live, *, shards: int) -> None:
        self._store = store
        self._following = following
        self._live = live
        self._shards = shards
        self._queue: deque[tuple[Row, Head | None]] = deque()
        self._accepting = threading.Lock()  # one conditional batch in flight per partition
        self._service = Service(f"orchestrator {name} follows", self._follow)

    def start(self) -> None:
        self._service.start()

    def stop(self) -> None:
        self._service.stop()

    def accept(self, batch: Sequence[Result]) -> list[bool]:
        """Make results final; True for each that the executor may forget, also when it came too late."""
        known = self._known(batch)
        groups = by_partition(known, self._shards, lambda one: one.result.key)
        for partition, group in groups.items():
            ends = {one.result.key: _end(one) for one in group}
            with self._accepting:
                applied = apply_all(self._store.timetable, partition, list(ends.values()))
            failpoint("orchestrator.ended")
            for change, row in applied.refused:
                log.info(
                    "result.late",
                    run_id=change.key.run.id,
                    attempt=change.key.attempt,
                    state=row.state if row else None,
                )
            done = {change.key for change in applied.done}
            self._queue.extend(
                (_ended(one, ends[one.result.key]), one.head) for one in group if one.result.key in done
            )
        self._live.end([result.key for result in batch])
        self._service.wake()
        return [True] * len(batch)

    def _known(self, batch: Sequence[Result]) -> list[_Known]:
        """Successes of what was started here need no reading; for all others the rows are read."""
        known: list[_Known] = []
        unknown: list[Result] = []
        for result in batch:
            started = self._live.get(result.key, result.token)
            if started is not None and result.state == "SUCCEEDED":
                plan = started.plan
                row = Row(
                    plan.key, plan.owner, plan.cause, plan.generation, plan.ordinal, plan.retries, plan.requeues
                )
                known.append(_Known(result, row, started.head, started.spec))
            else:
                unknown.append(result)
        return known + self._read(unknown)

    def _read(self, batch: Sequence[Result]) -> list[_Known]:
        if not batch:
            return []
        rows = self._store.timetable.rows([result.key for result in batch])
        heads = self._store.jobs.heads({result.key.job_id for result in batch})
        specs = self._store.jobs.specs({(head.job_id, head.generation) for head in heads.values()})
        known = []
        for result, row in zip(batch, rows, strict=True):
            started = self._live.get(result.key, result.token)
            head = started.head if started else heads.get(result.key.job_id)
            spec = started.spec if started else specs.get((head.job_id, head.generation)) if head else None
            if row is not None:
                known.append(_Known(result, row, head, spec))
        return known

    def _follow(self) -> float:
        rows: list[Row] = []
        heads: dict[str, Head] = {}
        taken = list(self._queue)[:MAX_FOLLOWED]
        for row, head in taken:
            rows.append(row)
            if head is not None:
                heads[head.job_id] = head
        self._following.follow(rows, heads)
        for _ in taken:
            self._queue.popleft()
        return 0.0 if self._queue else 60.0


def _end(one: _Known) -> End:
    """Return the change that a result asks for, with what is owed after it."""
    result, row = one.result, one.row
    state = State(result.state)
    if state is State.LOST and row.cancel_requested:
        state = State.CANCELLED
    owed = decide(
        one.spec.retries if one.spec is not None else RetryPolicy(),
        state,
        retries=row.retries,
        requeues=row.requeues,
        finished_ms=result.finished_ms,
        run_key=row.key.run.id,
    )
    return End(
        key=result.key,
        token=result.token,
        state=state,
        finished_ms=result.finished_ms,
        started_ms=result.started_ms,
        generation_ran=one.spec.generation if one.spec is not None else None,
        exit_code=result.exit_code,
        error=result.error,
        output=result.output,
        next_due_ms=owed.due_ms if owed is not None else None,
        next_cause=owed.cause if owed is not None else None,
    )


def _ended(one: _Known, end: End) -> Row:
    """Return the row as it is after its end."""
    return msgspec.structs.replace(
        one.row,
        state=end.state,
        claim=end.token,
        executor=one.result.executor,
        incarnation=one.result.incarnation,
        generation_ran=end.generation_ran,
        started_ms=end.started_ms,
        finished_ms=end.finished_ms,
        exit_code=end.exit_code,
        error=end.error,
        output=end.output,
        next_due_ms=end.next_due_ms,
        next_cause=end.next_cause,
    )
