"""Small values for the tests of decisions."""

from __future__ import annotations

from typing import Any

from chronoshard.domain.attempt import Row
from chronoshard.domain.identity import SCHEDULE, AttemptKey
from chronoshard.domain.job import Entry, Head, Status, first_entry
from chronoshard.domain.states import Cause
from chronoshard.domain.trigger import Interval, Trigger

JOB = "0" * 31 + "1"
T0 = 1_800_000_000_000  # a full minute
EVERY_MINUTE = Interval(every_ms=60_000, start_ms=T0)


def key(
    nominal_ms: int = T0, *, attempt: int = 0, origin: int = SCHEDULE, due_ms: int | None = None
) -> AttemptKey:
    return AttemptKey(nominal_ms if due_ms is None else due_ms, JOB, nominal_ms, origin, attempt)


def row(at: AttemptKey | None = None, **cells: Any) -> Row:
    plan = {"owner": "ann", "cause": Cause.SCHEDULE, "generation": 1, "ordinal": 0, "retries": 0, "requeues": 0}
    return Row(at or key(), **{**plan, **cells})


def head(trigger: Trigger = EVERY_MINUTE, *, timeline: tuple[Entry, ...] | None = None, **changes: Any) -> Head:
    values: dict[str, Any] = {
        "job_id": JOB,
        "owner": "ann",
        "generation": 1,
        "status": Status.SCHEDULED,
        "timeline": timeline or (first_entry(trigger, now_ms=T0 - 60_000),),
        "created_ms": T0 - 60_000,
        "updated_ms": T0 - 60_000,
    }
    return Head(**{**values, **changes})
