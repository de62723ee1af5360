"""Which transitions there are, and what people are told of a run."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from chronoshard.domain.states import FINAL, TRANSITIONS, Cause, State, is_final, may_become, run_state

NOW = 1_000_000


class Tried(NamedTuple):
    state: State | None
    due_ms: int = NOW
    next_due_ms: int | None = None


def test_every_state_says_where_it_leads() -> None:
    assert {None, *State} == set(TRANSITIONS)


def test_running_alone_is_not_final() -> None:
    assert [State.RUNNING] == [state for state in State if not is_final(state)]
    assert set(State) - {State.RUNNING} == set(FINAL)


@pytest.mark.parametrize("final", sorted(FINAL))
def test_a_final_state_never_changes(final: State) -> None:
    assert [] == [state for state in State if may_become(final, state)]


def test_what_runs_ends_in_any_final_state_and_does_not_start_again() -> None:
    assert set(FINAL) == {state for state in State if may_become(State.RUNNING, state)}


def test_what_is_due_starts_or_ends_without_having_run() -> None:
    assert {State.RUNNING, State.CANCELLED, State.SKIPPED, State.LOST} == {
        state for state in State if may_become(None, state)
    }


@pytest.mark.parametrize(
    ("attempts", "shown"),
    [
        ([Tried(None, due_ms=NOW + 1)], "scheduled"),
        ([Tried(None)], "pending"),
        ([Tried(State.RUNNING)], "running"),
        ([Tried(State.FAILED, next_due_ms=NOW + 5)], "retrying"),
        ([Tried(State.LOST, next_due_ms=NOW - 5)], "retrying"),
        ([Tried(State.FAILED, next_due_ms=NOW + 5), Tried(None, due_ms=NOW + 5)], "retrying"),
        ([Tried(State.FAILED, next_due_ms=NOW), Tried(None)], "retrying"),
        ([Tried(State.FAILED, next_due_ms=NOW), Tried(State.RUNNING)], "running"),
        ([Tried(State.FAILED, next_due_ms=NOW), Tried(State.SUCCEEDED)], "succeeded"),
        ([Tried(State.SUCCEEDED)], "succeeded"),
        ([Tried(State.FAILED)], "failed"),
        ([Tried(State.TIMED_OUT)], "timed_out"),
        ([Tried(State.LOST)], "lost"),
        ([Tried(State.CANCELLED)], "cancelled"),
        ([Tried(State.SKIPPED)], "skipped"),
    ],
)
def test_a_run_is_shown_by_its_last_attempt_and_by_what_is_owed(attempts: list[Tried], shown: str) -> None:
    assert shown == run_state(attempts, NOW)


def test_causes_have_stable_names() -> None:
    assert ["schedule", "request", "retry", "infrastructure", "user_retry"] == [cause.value for cause in Cause]
