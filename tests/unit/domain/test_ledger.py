"""Counting, history, and ends that nobody reported."""

from __future__ import annotations

from chronoshard.domain.access import Role, Token
from chronoshard.domain.ending import lost
from chronoshard.domain.history import history_of
from chronoshard.domain.ledger import Totals, add, is_settled, totals
from chronoshard.domain.retry import MAX_REQUEUES
from chronoshard.domain.states import Cause, State
from tests.unit.domain.builders import T0, row


def test_every_row_is_counted_once() -> None:
    rows = [row(), row(state=State.RUNNING), *(row(state=s) for s in State if s is not State.RUNNING)]
    counted = totals(rows)

    assert Totals(rows=8, open=2, succeeded=1, failed=2, skipped=1, lost=1, cancelled=1) == counted
    assert 16 == add(counted, counted).rows


def test_a_row_is_settled_when_it_is_final_and_followed() -> None:
    assert not is_settled(row())
    assert not is_settled(row(state=State.RUNNING, followed=True))
    assert not is_settled(row(state=State.FAILED))
    assert is_settled(row(state=State.FAILED, followed=True))


def test_history_keeps_what_the_final_row_says() -> None:
    kept = history_of(row(state=State.FAILED, finished_ms=T0 + 1, exit_code=3))

    assert (State.FAILED, 3, T0, (T0, 0, 0)) == (kept.state, kept.exit_code, kept.due_ms, kept.order)


def test_a_lost_attempt_is_owed_again_at_once_but_not_for_ever() -> None:
    first = lost(row(state=State.RUNNING, claim="t"), "gone", T0 + 9)
    last = lost(row(state=State.RUNNING, claim="t", requeues=MAX_REQUEUES), "gone", T0 + 9)

    assert (State.LOST, T0 + 9, Cause.INFRASTRUCTURE) == (first.state, first.next_due_ms, first.next_cause)
    assert last.next_due_ms is None


def test_what_was_to_be_cancelled_is_cancelled_when_its_executor_is_gone() -> None:
    end = lost(row(state=State.RUNNING, claim="t", cancel_requested=True), "gone", T0)

    assert (State.CANCELLED, None) == (end.state, end.next_due_ms)


def test_a_token_ends_when_it_says() -> None:
    token = Token(token_id="t", digest="d", owner="ann", role=Role.USER, created_ms=T0, expires_ms=T0 + 10)

    assert token.is_valid(T0 + 9)
    assert not token.is_valid(T0 + 10)
