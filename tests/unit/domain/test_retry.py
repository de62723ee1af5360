"""Failures use up retries, losses use up requeues, and neither touches the other's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chronoshard.domain.retry import JITTER, MAX_REQUEUES, Owed, RetryPolicy, decide, delay_ms
from chronoshard.domain.states import FINAL, Cause, State

NOW = 1_000_000
POLICIES = st.builds(
    RetryPolicy,
    max=st.integers(0, 1_000),
    delay_ms=st.integers(0, 86_400_000),
    backoff=st.floats(1, 1e300, allow_nan=False),
    max_delay_ms=st.integers(0, 86_400_000),
)


def after(
    outcome: State, *, policy: RetryPolicy | None = None, retries: int = 0, requeues: int = 0
) -> Owed | None:
    return decide(
        policy or RetryPolicy(max=3),
        outcome,
        retries=retries,
        requeues=requeues,
        finished_ms=NOW,
        run_key="run",
    )


@pytest.mark.parametrize("outcome", [State.SUCCEEDED, State.CANCELLED, State.SKIPPED])
def test_what_did_not_fail_is_not_tried_again(outcome: State) -> None:
    assert after(outcome) is None


@pytest.mark.parametrize("outcome", [State.FAILED, State.TIMED_OUT])
def test_a_failure_is_retried_as_often_as_the_policy_says(outcome: State) -> None:
    owed = [after(outcome, retries=retries, requeues=2) for retries in range(5)]

    assert [(Cause.RETRY, n, 2) for n in (1, 2, 3)] == [(o.cause, o.retries, o.requeues) for o in owed if o]
    assert [None, None] == owed[3:]
    assert after(outcome, policy=RetryPolicy()) is None


def test_a_loss_is_requeued_at_once_five_times_and_uses_up_no_retry() -> None:
    owed = [after(State.LOST, policy=RetryPolicy(), retries=1, requeues=n) for n in range(MAX_REQUEUES + 1)]

    assert [Owed(NOW, Cause.INFRASTRUCTURE, 1, n + 1) for n in range(5)] == owed[:-1]
    assert owed[-1] is None


def test_delays_grow_up_to_their_cap() -> None:
    policy = RetryPolicy(max=9, delay_ms=10_000, backoff=2.0, max_delay_ms=60_000)
    full = [10_000, 20_000, 40_000, 60_000, 60_000]

    for retries, most_ms in enumerate(full):
        assert most_ms * (1 - JITTER) <= delay_ms(policy, retries, "run") <= most_ms


@given(policy=POLICIES, retries=st.integers(0, 100_000), run_key=st.text(max_size=50))
def test_whatever_the_policy_a_delay_is_within_its_bounds_and_always_the_same(
    policy: RetryPolicy, retries: int, run_key: str
) -> None:
    delay = delay_ms(policy, retries, run_key)

    assert 0 <= delay <= policy.max_delay_ms
    assert delay == delay_ms(policy, retries, run_key)


@given(
    policy=POLICIES,
    outcomes=st.lists(st.sampled_from(sorted(FINAL)), min_size=1, max_size=40),
)
def test_no_sequence_of_outcomes_leads_to_more_attempts_than_allowed(
    policy: RetryPolicy, outcomes: list[State]
) -> None:
    retries = requeues = 0
    for outcome in outcomes:
        owed = decide(policy, outcome, retries=retries, requeues=requeues, finished_ms=NOW, run_key="run")
        if owed is None:
            break
        assert owed.due_ms >= NOW
        assert 1 == (owed.retries - retries) + (owed.requeues - requeues)
        retries, requeues = owed.retries, owed.requeues
    assert retries <= policy.max
    assert requeues <= MAX_REQUEUES


def test_what_failed_together_does_not_come_back_together() -> None:
    policy = RetryPolicy(max=1, delay_ms=100_000)

    assert len({delay_ms(policy, 0, f"run-{number}") for number in range(100)}) > 90
