"""Whether another attempt is owed, and when.

Failures of the task use up the owner's retries; losses of the infrastructure are counted apart and never touch
them (invariant 6).
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

import msgspec

from chronoshard.domain.states import Cause, State

MAX_REQUEUES = 5  # attempts lost to the infrastructure after which a run is given up as lost
JITTER = 0.1  # share of a delay that is spread, so that what failed together does not come back together


class RetryPolicy(msgspec.Struct, frozen=True, omit_defaults=True):
    """`max` retries after failures; the n-th waits delay_ms * backoff**n, at most max_delay_ms."""

    max: int = 0
    delay_ms: int = 10_000
    backoff: float = 2.0
    max_delay_ms: int = 600_000


class Owed(NamedTuple):
    """The attempt that comes next: when it is due, why, and what will have been used up by then."""

    due_ms: int
    cause: Cause
    retries: int
    requeues: int


def decide(
    policy: RetryPolicy,
    outcome: State,
    *,
    retries: int,
    requeues: int,
    finished_ms: int,
    run_key: str,
) -> Owed | None:
    """Return the attempt owed after `outcome`; None: the run has ended.

    `retries` and `requeues` are what the attempts up to this one have used up; `run_key` spreads the delay.
    """
    if outcome in (State.FAILED, State.TIMED_OUT) and retries < policy.max:
        due_ms = finished_ms + delay_ms(policy, retries, run_key)
        return Owed(due_ms, Cause.RETRY, retries + 1, requeues)
    if outcome is State.LOST and requeues < MAX_REQUEUES:
        return Owed(finished_ms, Cause.INFRASTRUCTURE, retries, requeues + 1)
    return None


def delay_ms(policy: RetryPolicy, retries: int, run_key: str) -> int:
    """Return how long to wait before the retry after `retries` earlier ones, in milliseconds."""
    try:
        full = policy.delay_ms * policy.backoff**retries
    except OverflowError:
        full = float(policy.max_delay_ms)
    full = min(full, policy.max_delay_ms)
    spread = zlib.crc32(f"{run_key}/{retries}".encode()) / 2**32  # the same whoever computes it
    return int(full * (1 - JITTER * spread))
