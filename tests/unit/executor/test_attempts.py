"""The memory that makes starts idempotent and fences final, and its bounds."""

from __future__ import annotations

import msgspec
import pytest

from chronoshard.domain.identity import AttemptKey
from chronoshard.executor import attempts as module
from chronoshard.executor.attempts import Attempt, Attempts
from chronoshard.link import StartOrder


def order(number: int, token: str = "token") -> StartOrder:
    return StartOrder(AttemptKey(0, "job", 0, number, 0), token, "1", "anna", "shell", 1_000)


def started(attempts: Attempts, number: int) -> Attempt:
    attempt = Attempt(order(number), 0)
    attempts.add(attempt)
    return attempt


def test_what_nobody_knows_may_start() -> None:
    assert Attempts().refusal(order(1)) is None


def test_the_same_order_has_been_taken_another_claim_has_not() -> None:
    attempts = Attempts()
    started(attempts, 1)

    assert "" == attempts.refusal(order(1))
    assert "already started under another claim" == attempts.refusal(order(1, "other"))


def test_an_end_counts_once() -> None:
    attempts = Attempts()
    attempt = started(attempts, 1)

    assert [True, False] == [attempts.end(attempt), attempts.end(attempt)]
    assert ["finished"] == attempts.fence([attempt.order.key])


def test_a_fence_refuses_for_ever_only_what_was_never_here() -> None:
    attempts = Attempts()
    started(attempts, 1)

    assert ["running", "refused"] == attempts.fence([order(1).key, order(2).key])
    assert "" == attempts.refusal(order(1))
    assert attempts.refusal(order(2)) == attempts.refusal(order(2, "other")) == "refused for ever by a fence"


def test_only_accepted_ends_are_forgotten_the_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 2)
    attempts = Attempts()
    for number in range(5):
        attempts.end(started(attempts, number))

    attempts.accepted([order(number).key for number in (0, 1, 2)])

    assert [None, "", "", "", ""] == [attempts.refusal(order(number)) for number in range(5)]
    assert ["finished"] == attempts.fence([order(1).key])


def test_the_memory_of_fences_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FENCED", 2)
    attempts = Attempts()

    attempts.fence([order(number).key for number in range(3)])

    assert [None, "refused for ever by a fence"] == [attempts.refusal(order(0)), attempts.refusal(order(2))]


def test_what_runs_is_listed_until_it_ends() -> None:
    attempts = Attempts()
    attempt = started(attempts, 1)
    started(attempts, 2)

    attempts.end(attempt)

    assert [order(2).key] == attempts.unfinished()
    assert attempts.running(attempt.order.key) is None
    assert order(1) == msgspec.structs.replace(attempt.order)
