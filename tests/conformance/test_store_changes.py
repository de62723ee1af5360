"""Conditional batches: all or nothing, each change from the state that it names, a repeat is a success."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace
from store_values import DUE_MS, PARTITION, applied, claim, due, end, job_ids, key, made, plan, present

from chronoshard.domain.attempt import AskCancel, Change, Claim, Dismiss, End, Move, Output, OweAgain, Row
from chronoshard.domain.states import Cause, State
from chronoshard.ports import Store

DISMISS = Dismiss(key(), "mine", State.SKIPPED, "paused", DUE_MS + 1)
MOVE = Move(key(), "mine", "new", "west", "life-9", DUE_MS + 30)
OWE = OweAgain(key(), State.SUCCEEDED, DUE_MS + 5000, next_generation=9)


def _due(store: Store) -> None:
    made(store, key())


def _running(store: Store) -> None:
    _due(store)
    applied(store, claim())


def _final(store: Store) -> None:
    _running(store)
    applied(store, end())


def test_a_claim_takes_a_due_row(store: Store) -> None:
    _due(store)

    [row] = applied(store, claim())

    expected = due(plan())
    expected.state, expected.claim = State.RUNNING, "mine"
    expected.executor, expected.incarnation, expected.started_ms = "east", "life-1", DUE_MS + 5
    assert expected == row


def test_a_dismissal_ends_a_due_row(store: Store) -> None:
    _due(store)

    [row] = applied(store, DISMISS)

    expected = due(plan())
    expected.state, expected.claim, expected.reason = State.SKIPPED, "mine", "paused"
    expected.finished_ms = DUE_MS + 1
    assert expected == row


def test_a_move_hands_the_claim_over(store: Store) -> None:
    _running(store)
    before = present(store, [key()])[0]

    [row] = applied(store, MOVE)

    before.claim, before.executor, before.incarnation, before.started_ms = "new", "west", "life-9", DUE_MS + 30
    assert before == row


def test_an_end_writes_all_that_is_known(store: Store) -> None:
    _running(store)
    before = present(store, [key()])[0]
    broken = End(
        key(),
        "mine",
        State.FAILED,
        finished_ms=DUE_MS + 70,
        started_ms=DUE_MS + 8,
        generation_ran=4,
        reason="it was told to",
        exit_code=-9,
        error='a "quoted"\nline \u2603',
        output=Output(stdout_bytes=3, stderr_truncated=True),
        next_due_ms=DUE_MS + 10_000,
        next_cause=Cause.RETRY,
    )

    [row] = applied(store, broken)

    before.state, before.finished_ms, before.started_ms = State.FAILED, DUE_MS + 70, DUE_MS + 8
    before.generation_ran, before.reason, before.exit_code = 4, "it was told to", -9
    before.error, before.output = broken.error, broken.output
    before.next_due_ms, before.next_cause = DUE_MS + 10_000, Cause.RETRY
    assert before == row


def test_an_end_that_knows_no_start_leaves_the_claim_s(store: Store) -> None:
    _running(store)

    [row] = applied(store, End(key(), "mine", State.LOST, DUE_MS + 50))

    assert (State.LOST, DUE_MS + 5, None) == (row.state, row.started_ms, row.output)


def test_asking_to_cancel_leaves_it_running(store: Store) -> None:
    _running(store)

    [row] = applied(store, AskCancel(key()))

    assert (State.RUNNING, "mine", True) == (row.state, row.claim, row.cancel_requested)


def test_a_user_s_retry_is_owed_by_a_final_row(store: Store) -> None:
    _final(store)

    [row] = applied(store, OWE)

    assert (State.SUCCEEDED, DUE_MS + 5000, Cause.USER_RETRY, 9) == (
        row.state,
        row.next_due_ms,
        row.next_cause,
        row.next_generation,
    )


@pytest.mark.parametrize(
    ("reached", "change"),
    [
        pytest.param(_running, claim(token="other"), id="claim of a running row"),
        pytest.param(_final, claim(token="other"), id="claim of a final row"),
        pytest.param(_final, claim(), id="the claim of a row that has ended since"),
        pytest.param(_running, DISMISS, id="dismissal of a running row"),
        pytest.param(_final, DISMISS, id="dismissal of a final row"),
        pytest.param(_due, MOVE, id="move of a due row"),
        pytest.param(_final, MOVE, id="move of a final row"),
        pytest.param(_running, replace(MOVE, token="other"), id="move of another's claim"),
        pytest.param(_due, end(), id="end of a due row"),
        pytest.param(_running, end(token="other"), id="end of another's claim"),
        pytest.param(_final, end(state=State.FAILED), id="another end"),
        pytest.param(_final, replace(end(), finished_ms=1), id="an end at another time"),
        pytest.param(_final, replace(end(), next_due_ms=1), id="an end that owes more"),
        pytest.param(_due, AskCancel(key()), id="cancel of a due row"),
        pytest.param(_final, AskCancel(key()), id="cancel of a final row"),
        pytest.param(_due, OWE, id="retry of a due row"),
        pytest.param(_running, OWE, id="retry of a running row"),
        pytest.param(_final, replace(OWE, state=State.FAILED), id="retry from another state than was read"),
    ],
)
def test_a_change_from_another_state_is_refused_with_the_row(
    store: Store, reached: Callable[[Store], None], change: Change
) -> None:
    reached(store)
    before = present(store, [key()])

    assert before == store.timetable.apply(PARTITION, [change])
    assert before == present(store, [key()])


def test_a_second_retry_is_refused_when_one_is_owed(store: Store) -> None:
    _final(store)
    rows = applied(store, OWE)

    assert rows == store.timetable.apply(PARTITION, [replace(OWE, next_due_ms=DUE_MS + 6000)])


@pytest.mark.parametrize(
    ("reached", "change"),
    [
        pytest.param(_due, claim(), id="claim"),
        pytest.param(_due, DISMISS, id="dismissal"),
        pytest.param(_running, MOVE, id="move"),
        pytest.param(_running, end(), id="end"),
        pytest.param(_running, AskCancel(key()), id="cancel"),
        pytest.param(_final, OWE, id="retry"),
    ],
)
def test_a_repeat_is_a_success_and_changes_nothing(
    store: Store, reached: Callable[[Store], None], change: Change
) -> None:
    reached(store)
    rows = applied(store, change)

    assert rows == applied(store, change)


@pytest.mark.parametrize("change", [claim(), DISMISS, MOVE, end(), AskCancel(key()), OWE])
def test_a_row_that_is_not_there_refuses_and_is_not_made(store: Store, change: Change) -> None:
    assert [None] == store.timetable.apply(PARTITION, [change])
    assert [None] == store.timetable.rows([key()])
    assert [] == store.timetable.page(PARTITION, after=None, limit=10)


def test_one_refusal_undoes_the_batch_and_shows_every_row_in_order(store: Store) -> None:
    first, taken, missing, last = (key(job_id) for job_id in job_ids(4))
    made(store, first, taken, last)
    applied(store, claim(taken, "other"))
    before = store.timetable.rows([last, taken, missing, first])

    answer = store.timetable.apply(PARTITION, [claim(at) for at in (last, taken, missing, first)])

    assert before == answer
    assert [None, "other", None, None] == [row and row.claim for row in answer]
    assert before == store.timetable.rows([last, taken, missing, first])


def test_repeats_and_new_changes_make_one_batch(store: Store) -> None:
    done, new = made(store, *(key(job_id) for job_id in job_ids(2)))
    applied(store, claim(done))

    rows = applied(store, claim(done), claim(new))

    assert [State.RUNNING, State.RUNNING] == [row.state for row in rows]


def test_a_repeat_beside_a_refusal_stays_as_it_was(store: Store) -> None:
    done, taken = made(store, *(key(job_id) for job_id in job_ids(2)))
    before = applied(store, claim(done)) + applied(store, claim(taken, "other"))

    assert before == store.timetable.apply(PARTITION, [claim(done), claim(taken)])


def test_changes_of_all_kinds_make_one_batch(store: Store) -> None:
    to_claim, to_skip, to_move, to_end, to_kill, to_retry = keys = made(store, *(key(id_) for id_ in job_ids(6)))
    applied(store, *(claim(at) for at in keys[2:]))
    applied(store, end(to_retry))

    rows = applied(
        store,
        claim(to_claim, "one"),
        replace(DISMISS, key=to_skip),
        replace(MOVE, key=to_move),
        end(to_end, state=State.FAILED),
        AskCancel(to_kill),
        replace(OWE, key=to_retry),
    )

    assert [State.RUNNING, State.SKIPPED, State.RUNNING, State.FAILED, State.RUNNING, State.SUCCEEDED] == [
        row.state for row in rows
    ]
    assert ["one", "mine", "new", "mine", "mine", "mine"] == [row.claim for row in rows]


def test_a_mixed_batch_is_undone_as_one(store: Store) -> None:
    to_claim, to_end = made(store, *(key(id_) for id_ in job_ids(2)))
    [running] = applied(store, claim(to_end))
    fresh = due(plan(to_claim))

    assert [fresh, running] == store.timetable.apply(PARTITION, [claim(to_claim), end(to_end, "other")])
    assert [fresh, running] == present(store, [to_claim, to_end])


def test_a_hundred_changes_make_one_batch(store: Store) -> None:
    keys = made(store, *(key(job_id) for job_id in job_ids(100)))

    rows = applied(store, *(claim(at, f"token {at.job_id}") for at in keys))

    assert [f"token {at.job_id}" for at in keys] == [row.claim for row in rows]


def test_no_change_at_all_is_a_success(store: Store) -> None:
    assert store.timetable.apply(PARTITION, []) is None


def test_a_cancel_that_was_asked_for_stays_through_move_and_end(store: Store) -> None:
    _running(store)
    applied(store, AskCancel(key()))
    applied(store, MOVE)

    [row] = applied(store, end(token="new", state=State.CANCELLED))

    assert (True, State.CANCELLED) == (row.cancel_requested, row.state)


def test_of_two_who_claim_the_same_rows_exactly_one_gets_them(store: Store) -> None:
    """Each batch is taken as a whole: no mixture, no third outcome."""
    batches = [[key(id_, attempt=n) for id_ in job_ids(5)] for n in range(20)]
    made(store, *(at for batch in batches for at in batch))
    together = threading.Barrier(2)

    def race(token: str) -> list[bool]:
        won: list[bool] = []
        for batch in batches:
            together.wait(10)
            won.append(store.timetable.apply(PARTITION, [_mine(at, token) for at in batch]) is None)
        return won

    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(race, ["one", "other"])

    assert [not won for won in other] == one
    for batch, first_won in zip(batches, one, strict=True):
        winner = "one" if first_won else "other"
        assert [winner] * 5 == [row.claim for row in present(store, batch)]


def test_a_refusal_shows_rows_as_they_are_now(store: Store) -> None:
    _final(store)

    answer = store.timetable.apply(PARTITION, [claim(token="late")])

    assert answer == present(store, [key()])
    assert [(State.SUCCEEDED, "mine")] == [(row.state, row.claim) for row in answer if isinstance(row, Row)]


def _mine(at: object, token: str) -> Claim:
    return replace(claim(), key=at, token=token)
