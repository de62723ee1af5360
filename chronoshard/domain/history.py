"""One ended attempt, as clients and analysts see it."""

from __future__ import annotations

import msgspec

from chronoshard.domain.attempt import Output, Row
from chronoshard.domain.identity import Run
from chronoshard.domain.states import Cause, State


class HistoryRow(msgspec.Struct, frozen=True):
    """`run` and `attempt` identify it; times are UTC epoch milliseconds."""

    run: Run
    attempt: int
    owner: str
    state: State
    cause: Cause
    due_ms: int
    finished_ms: int
    started_ms: int | None = None
    generation: int | None = None
    executor: str | None = None
    exit_code: int | None = None
    error: str | None = None
    reason: str | None = None
    output: Output | None = None
    next_due_ms: int | None = None

    @property
    def order(self) -> tuple[int, int, int]:
        return (self.run.nominal_ms, self.run.origin, self.attempt)


def history_of(row: Row) -> HistoryRow:
    """Return what the history keeps of a final row."""
    assert row.state is not None
    assert row.finished_ms is not None
    return HistoryRow(
        run=row.key.run,
        attempt=row.key.attempt,
        owner=row.owner,
        state=row.state,
        cause=row.cause,
        due_ms=row.key.due_ms,
        finished_ms=row.finished_ms,
        started_ms=row.started_ms,
        generation=row.generation_ran,
        executor=row.executor,
        exit_code=row.exit_code,
        error=row.error,
        reason=row.reason,
        output=row.output,
        next_due_ms=row.next_due_ms,
    )
