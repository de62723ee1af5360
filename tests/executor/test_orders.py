"""Reservations, starts, fences and kills: nothing starts that should not, nothing starts twice."""

from __future__ import annotations

import pytest

from chronoshard.errors import LinkRefused
from chronoshard.link import ReserveRequest, StartAnswer
from tests.executor.bench import Bench, until

ACCEPTED = StartAnswer(accepted=True)
WAIT = "echo up; sleep 600"


@pytest.fixture
def running(bench: Bench) -> Bench:
    return bench.start()


def test_a_start_without_a_reservation_is_refused(running: Bench) -> None:
    assert [StartAnswer(False, "no live reservation")] == running.executor.link.start(
        "none", [running.order("builtin", "noop")]
    )


def test_a_reservation_covers_as_many_starts_as_it_has_slots(running: Bench) -> None:
    orders = [running.order("shell", "true") for _ in range(3)]

    answers = running.executor.link.start(running.reserve(2), orders)

    assert [True, True, False] == [answer.accepted for answer in answers]


def test_what_was_released_is_free_again_and_starts_nothing(running: Bench) -> None:
    link = running.executor.link
    reservation = running.reserve(100)
    assert 0 == link.ping().free

    link.release(reservation)

    assert 100 == link.ping().free
    assert not link.renew(reservation)
    assert [False] == [a.accepted for a in link.start(reservation, [running.order("shell", "true")])]


def test_a_grant_is_what_is_free(bench: Bench) -> None:
    bench.start(slots=3)
    order = bench.begin("shell", WAIT)
    bench.prints(order, b"up")

    grant = bench.executor.link.reserve(ReserveRequest("o1", bench.incarnation, 5))

    assert 2 == grant.slots


def test_a_slot_is_free_again_when_its_attempt_has_ended(bench: Bench) -> None:
    bench.start(slots=1)

    for _ in range(3):
        assert "SUCCEEDED" == bench.run("shell", "true").state


def test_the_same_order_again_gets_the_same_answer_and_runs_once(running: Bench) -> None:
    order = running.order("shell", "echo once")
    link = running.executor.link

    assert [[ACCEPTED]] * 3 == [link.start(running.reserve(), [order]) for _ in range(3)]

    running.result(order)
    assert [ACCEPTED] == link.start(running.reserve(), [order])
    assert 1 == len([result for result in running.orchestrator.received if result.key == order.key])


def test_an_order_under_another_claim_starts_nothing(running: Bench) -> None:
    order = running.order("shell", "true")
    other = running.order("shell", "true", key=order.key, token="another")
    running.send(order)

    [answer] = running.send(other)

    assert (False, "already started under another claim") == (answer.accepted, answer.reason)


def test_a_fence_tells_what_runs_what_has_ended_and_what_never_will(running: Bench) -> None:
    link, incarnation = running.executor.link, running.incarnation
    waiting = running.begin("shell", WAIT)
    ended = running.begin("shell", "true")
    never = running.order("shell", "true")
    running.result(ended)

    keys = [waiting.key, ended.key, never.key]

    assert ["running", "finished", "refused"] == link.fence(incarnation, keys)
    assert [StartAnswer(False, "refused for ever by a fence")] == running.send(never)
    assert ["refused"] == link.fence(incarnation, [never.key])


def test_orders_for_another_incarnation_are_no_answer_at_all(running: Bench) -> None:
    link = running.executor.link
    order = running.order("shell", "true", incarnation="000000000001")

    with pytest.raises(LinkRefused):
        link.start(running.reserve(), [order])
    with pytest.raises(LinkRefused):
        link.fence("000000000001", [order.key])
    assert 0 == link.reserve(ReserveRequest("o1", "000000000001", 1)).slots
    link.kill("000000000001", [order.key], "not here")


def test_a_kill_reaches_builtins_too(running: Bench) -> None:
    order = running.begin("builtin", "sleep 600")

    running.executor.link.kill(running.incarnation, [order.key], "enough")

    result = running.result(order)
    assert ("CANCELLED", "enough") == (result.state, result.error)


def test_a_kill_order_comes_with_a_beat(running: Bench) -> None:
    order = running.begin("shell", WAIT)

    running.orchestrator.kills.append(order.key)

    assert "CANCELLED" == running.result(order).state


def test_an_attempt_killed_while_its_code_is_fetched_never_runs(running: Bench) -> None:
    order = running.order("shell", "true")
    running.blobs.away = True
    running.send(order)

    running.executor.link.kill(running.incarnation, [order.key], "enough")
    running.blobs.away = False

    result = running.result(order)
    assert ("CANCELLED", None) == (result.state, result.output)


def test_builtins_run_by_the_thousand_at_once(running: Bench) -> None:
    orders = [running.order("builtin", "sleep 0.2") for _ in range(2000)]

    for part in range(0, 2000, 100):
        assert [ACCEPTED] * 100 == running.send(*orders[part : part + 100])

    assert {"SUCCEEDED"} == {running.result(order).state for order in orders}
    assert {0} == {running.result(order).exit_code for order in orders}


@pytest.mark.parametrize(
    ("source", "state", "error"),
    [
        ("noop", "SUCCEEDED", None),
        ("sleep 0.01", "SUCCEEDED", None),
        ("fail 3", "FAILED", "exit code 3"),
        ("sleep 9", "TIMED_OUT", "ran longer than its timeout of 0.05 s"),
        ("dance", "FAILED", "task.builtin: no builtin task b'dance'"),
    ],
)
def test_builtins_do_what_they_are_called(running: Bench, source: str, state: str, error: str | None) -> None:
    result = running.run("builtin", source, timeout_ms=50)

    assert (state, error) == (result.state, result.error)


def test_output_of_what_is_not_here_is_not_known(running: Bench) -> None:
    order = running.order("shell", "true")

    assert running.executor.link.tail(order.key, "stdout", 0, 10) is None


def test_output_leaves_the_executor_when_its_result_is_accepted(running: Bench) -> None:
    order = running.begin("shell", "echo out")
    running.result(order)

    until(lambda: running.executor.link.tail(order.key, "stdout", 0, 10) is None)

    assert [] == list(running.directory.glob("lives/*/attempts/*"))
