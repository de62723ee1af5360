"""Changes of rows: where each comes from, and what follows."""

from __future__ import annotations

import pytest

from chronoshard.domain.attempt import (
    AskCancel,
    Change,
    Claim,
    Dismiss,
    End,
    Move,
    OweAgain,
    Plan,
    Row,
    is_done,
    is_possible,
    successor,
)
from chronoshard.domain.states import Cause, State
from tests.unit.domain.builders import T0, key, row

DUE = row()
RUNNING = row(state=State.RUNNING, claim="t")
MOVED = row(state=State.RUNNING, claim="u")
FAILED = row(state=State.FAILED, claim="t", finished_ms=T0 + 5)
OWED = row(state=State.FAILED, claim="t", finished_ms=T0 + 5, next_due_ms=T0 + 9, next_cause=Cause.USER_RETRY)
CANCELLED = row(state=State.CANCELLED, claim="d", reason="r", finished_ms=T0)
ASKED = row(state=State.RUNNING, claim="t", cancel_requested=True)

CLAIM = Claim(key(), "t", "e1", "i1", T0)
DISMISS = Dismiss(key(), "d", State.CANCELLED, "r", T0)
MOVE = Move(key(), "t", "u", "e2", "i2", T0)
END = End(key(), "t", State.FAILED, T0 + 5)
OWE = OweAgain(key(), State.FAILED, T0 + 9, 2)
ASK = AskCancel(key())


@pytest.mark.parametrize(
    ("change", "possible", "done"),
    [
        (CLAIM, [DUE], [RUNNING, ASKED]),
        (DISMISS, [DUE], [CANCELLED]),
        (MOVE, [RUNNING, ASKED], [MOVED]),
        (END, [RUNNING, ASKED], [FAILED]),
        (OWE, [FAILED], [OWED]),
        (ASK, [RUNNING, MOVED, ASKED], [ASKED]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_change_comes_from_one_state_and_knows_its_own_effect(
    change: Change, possible: list[Row], done: list[Row]
) -> None:
    every = [DUE, RUNNING, MOVED, FAILED, OWED, CANCELLED, ASKED]

    assert possible == [one for one in every if is_possible(change, one)]
    assert done == [one for one in every if is_done(change, one)]


@pytest.mark.parametrize(
    ("cause", "used", "expected"),
    [
        (Cause.RETRY, (1, 2), (2, 2)),
        (Cause.INFRASTRUCTURE, (1, 2), (1, 3)),
        (Cause.USER_RETRY, (1, 2), (0, 0)),
    ],
)
def test_the_next_attempt_follows_from_the_cells_of_the_one_before(
    cause: Cause, used: tuple[int, int], expected: tuple[int, int]
) -> None:
    retries, requeues = used
    before = row(key(attempt=3), retries=retries, requeues=requeues, next_due_ms=T0 + 99, next_cause=cause)

    assert Plan(key(attempt=4, due_ms=T0 + 99), "ann", cause, 1, 0, *expected) == successor(before)


def test_a_users_retry_carries_the_generation_under_which_it_was_accepted() -> None:
    before = row(next_due_ms=T0, next_cause=Cause.USER_RETRY, next_generation=7)
    after = successor(before)

    assert after is not None
    assert 7 == after.generation


def test_nothing_follows_when_nothing_is_owed() -> None:
    assert successor(FAILED) is None
    assert T0 == FAILED.due_ms
    assert Plan(key(), "ann", Cause.SCHEDULE, 1) == FAILED.plan
