"""Which executor is asked first: the freer of two random ones that fit.

Two random choices spread load almost as well as knowing everybody's, and do not send everyone to the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec


class Candidate(msgspec.Struct, frozen=True):
    """An executor as its last beat told. `free` are slots, `load` is the machine's load per core."""

    executor: str
    incarnation: str
    runtimes: frozenset[str]
    labels: Mapping[str, str]
    tier: int
    free: int
    load: float


def fits(candidate: Candidate, *, runtime: str, labels: Mapping[str, str], tier: int) -> bool:
    """Say whether it can run this runtime, has all these labels and is strong enough."""
    return (
        runtime in candidate.runtimes
        and candidate.tier >= tier
        and all(candidate.labels.get(name) == value for name, value in labels.items())
    )


def choose(
    candidates: Sequence[Candidate],
    *,
    runtime: str,
    labels: Mapping[str, str],
    tier: int,
    draw: Callable[[int], int],
) -> list[Candidate]:
    """Return at most two that fit, the freer first. `draw(n)` returns a number in [0, n)."""
    fitting = [c for c in candidates if fits(c, runtime=runtime, labels=labels, tier=tier)]
    drawn = [fitting.pop(draw(len(fitting))) for _ in range(min(2, len(fitting)))]
    return sorted(drawn, key=lambda candidate: (-candidate.free, candidate.load))
