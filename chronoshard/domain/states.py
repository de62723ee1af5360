"""The states of an attempt and of a run, and which transitions there are.

Final states never change (invariant 5). A row without a state is due: nobody has taken it yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol


class State(StrEnum):
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    TIMED_OUT = "TIMED_OUT"
    LOST = "LOST"
    CANCELLED = "CANCELLED"
    SKIPPED = "SKIPPED"


class Cause(StrEnum):
    """Why an attempt exists."""

    SCHEDULE = "schedule"
    REQUEST = "request"
    RETRY = "retry"
    INFRASTRUCTURE = "infrastructure"
    USER_RETRY = "user_retry"


FINAL = frozenset(State) - {State.RUNNING}

# A claim leads to RUNNING; what never ran is ended straight from due; a claim that may not start is SKIPPED.
TRANSITIONS: dict[State | None, frozenset[State]] = {
    None: frozenset({State.RUNNING, State.CANCELLED, State.SKIPPED, State.LOST}),
    State.RUNNING: FINAL,
    **dict.fromkeys(FINAL, frozenset[State]()),
}


class Attempt(Protocol):
    """What `run_state` needs to know of an attempt."""

    @property
    def state(self) -> State | None: ...

    @property
    def due_ms(self) -> int: ...

    @property
    def next_due_ms(self) -> int | None: ...


def is_final(state: State) -> bool:
    return state in FINAL


def may_become(old: State | None, new: State) -> bool:
    """Say whether an attempt may go from `old` (None: due) to `new`."""
    return new in TRANSITIONS[old]


def run_state(attempts: Sequence[Attempt], now_ms: int) -> str:
    """Return the state of a run as people see it, from its attempts in order.

    `retrying`: an attempt is owed or waits after an earlier one; no final state is shown before it.
    """
    last = attempts[-1]
    if last.state is State.RUNNING:
        return "running"
    if last.state is None:
        if len(attempts) > 1:
            return "retrying"
        return "scheduled" if last.due_ms > now_ms else "pending"
    if last.next_due_ms is not None:
        return "retrying"
    return last.state.value.lower()
