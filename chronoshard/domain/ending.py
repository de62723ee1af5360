"""How attempts end when their executor does not tell."""

from __future__ import annotations

from chronoshard.domain.attempt import End, Row
from chronoshard.domain.retry import RetryPolicy, decide
from chronoshard.domain.states import State


def lost(row: Row, why: str, now_ms: int) -> End:
    """Return the end of an attempt whose executor is gone."""
    assert row.claim is not None
    state = State.CANCELLED if row.cancel_requested else State.LOST
    owed = decide(
        RetryPolicy(),
        state,
        retries=row.retries,
        requeues=row.requeues,
        finished_ms=now_ms,
        run_key=row.key.run.id,
    )
    return End(
        key=row.key,
        token=row.claim,
        state=state,
        finished_ms=now_ms,
        started_ms=row.started_ms,
        error=why,
        next_due_ms=owed.due_ms if owed is not None else None,
        next_cause=owed.cause if owed is not None else None,
    )
