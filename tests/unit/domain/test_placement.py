"""Who fits, and which of two is asked first."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

from chronoshard.domain.placement import Candidate, choose, fits

ANN = Candidate(
    executor="ann",
    incarnation="1",
    runtimes=frozenset({"shell", "python"}),
    labels={"region": "eu", "gpu": "yes"},
    tier=2,
    free=4,
    load=0.5,
)


def named(executor: str, *, free: int = 4, load: float = 0.5) -> Candidate:
    return msgspec.structs.replace(ANN, executor=executor, free=free, load=load)


def names(candidates: list[Candidate], *draws: int, tier: int = 1) -> list[str]:
    """Return who is chosen when the draws come out like this."""
    left = list(draws)
    chosen = choose(candidates, runtime="shell", labels={}, tier=tier, draw=lambda count: left.pop(0) % count)
    return [candidate.executor for candidate in chosen]


@pytest.mark.parametrize(
    ("runtime", "labels", "tier", "fitting"),
    [
        ("shell", {}, 1, True),
        ("python", {"region": "eu"}, 2, True),
        ("javascript", {}, 1, False),
        ("shell", {"region": "us"}, 1, False),
        ("shell", {"region": "eu", "disk": "ssd"}, 1, False),
        ("shell", {}, 3, False),
    ],
)
def test_an_executor_fits_that_has_all_that_is_asked_for(
    runtime: str, labels: Mapping[str, str], tier: int, fitting: bool
) -> None:
    assert fitting == fits(ANN, runtime=runtime, labels=labels, tier=tier)


def test_two_are_drawn_and_the_freer_comes_first() -> None:
    three = [named("busy", free=1), named("idle", free=9), named("best", free=20)]

    assert ["idle", "busy"] == names(three, 0, 0)
    assert ["best", "busy"] == names(three, 0, 1)
    assert ["best", "idle"] == names(three, 2, 1)


def test_of_two_equally_free_the_less_loaded_comes_first() -> None:
    assert ["cool", "hot"] == names([named("hot", load=2.0), named("cool", load=0.1)], 0, 0)


def test_one_and_none_are_what_there_is() -> None:
    assert ["ann"] == names([ANN], 0)
    assert [] == names([])
    assert [] == names([ANN], tier=3)


def test_nobody_is_drawn_twice() -> None:
    assert ["a", "b"] == sorted(names([named("a"), named("b")], 0, 0))
