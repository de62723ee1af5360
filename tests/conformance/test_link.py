"""What the link promises, in process and over HTTP alike; see chronoshard.link."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from link_fixtures import LIFE, Executors, Orchestrators

from chronoshard.domain.attempt import Output
from chronoshard.domain.identity import AttemptKey
from chronoshard.domain.job import HttpCall
from chronoshard.errors import LinkRefused, LinkTimeout, Unavailable
from chronoshard.link import (
    Address,
    Beat,
    BeatAnswer,
    ExecutorLink,
    Grant,
    Pong,
    ReserveRequest,
    Result,
    StartAnswer,
    StartOrder,
    Tail,
)

ACCEPTED = StartAnswer(accepted=True)


def key(number: int, attempt: int = 0) -> AttemptKey:
    return AttemptKey(1_800_000_000_000 + number, f"{number:032x}", 1_800_000_000_000, 2**63 - 1, attempt)


def order(number: int, incarnation: str = LIFE) -> StartOrder:
    return StartOrder(
        key=key(number), token="o1.1", incarnation=incarnation, owner="ann", runtime="shell", timeout_ms=1_000
    )


FULL_ORDER = StartOrder(
    key=key(7, attempt=3),
    token="o1.äöü 😀",
    incarnation=LIFE,
    owner="ann",
    runtime="http",
    timeout_ms=3_600_000,
    task_id="sha256:ab",
    http=HttpCall("https://example.org/?a=b", "POST", {"X-Key": "a"}, '{"a": "ü\\n"}'),
    params=b'{"a": "\xc3\xbc", "b": [1, 2.5, null]}',
    memory_mb=64,
    network=False,
    output_limit=1,
)
FULL_RESULT = Result(
    key=key(7),
    token="o1.1",
    executor="e1",
    incarnation=LIFE,
    state="FAILED",
    started_ms=1_800_000_000_001,
    finished_ms=1_800_000_000_002,
    exit_code=-9,
    error="killed: ü",
    output=Output(5, 6, stdout_truncated=True, stderr_truncated=False),
)
FULL_BEAT = Beat(
    executor="e1",
    incarnation=LIFE,
    sequence=3,
    address="http://127.0.0.1:1",
    slots=8,
    free=7,
    load=0.25,
    runtimes=["shell", "python"],
    labels={"zone": "a"},
    tier=2,
    sandbox="bubblewrap",
    attempts=[key(1), key(2, attempt=1)],
    leftovers_done=True,
    draining=True,
)
CALLS: dict[str, Callable[[ExecutorLink], object]] = {
    "reserve": lambda link: link.reserve(ReserveRequest("o1", LIFE, 1)),
    "renew": lambda link: link.renew("o1-0"),
    "release": lambda link: link.release("o1-0"),
    "start": lambda link: link.start("o1-0", [order(1)]),
    "fence": lambda link: link.fence(LIFE, [key(1)]),
    "kill": lambda link: link.kill(LIFE, [key(1)], "cancelled"),
    "tail": lambda link: link.tail(key(1), "stdout", 0, 10),
    "ping": lambda link: link.ping(),
}
each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
each_link_error = pytest.mark.parametrize("kind", [LinkRefused, LinkTimeout])


def test_slots_are_granted_as_far_as_there_are(executor_link: Executors) -> None:
    link, _ = executor_link

    assert Grant("o1-0", 3, LIFE) == link.reserve(ReserveRequest("o1", LIFE, 3))
    assert Grant("o1-1", 1, LIFE) == link.reserve(ReserveRequest("o1", LIFE, 3))
    assert Grant("o2-2", 0, LIFE) == link.reserve(ReserveRequest("o2", LIFE, 3))
    assert Pong("e1", LIFE, 0, draining=False) == link.ping()


def test_a_reservation_can_be_renewed_until_it_is_released(executor_link: Executors) -> None:
    link, _ = executor_link
    reservation = link.reserve(ReserveRequest("o1", LIFE, 3)).reservation

    assert link.renew(reservation) is True
    assert None is link.release(reservation)
    assert link.renew(reservation) is False
    assert 4 == link.ping().free


def test_an_order_arrives_as_it_was_given(executor_link: Executors) -> None:
    link, there = executor_link

    assert [ACCEPTED, ACCEPTED] == link.start("r", [FULL_ORDER, order(1)])
    assert [FULL_ORDER, order(1)] == there.orders


def test_each_order_has_its_own_answer_and_a_repeated_one_the_same(executor_link: Executors) -> None:
    link, there = executor_link
    orders = [order(1), order(2, incarnation="0000"), order(3)]
    expected = [ACCEPTED, StartAnswer(accepted=False, reason="refused for ever"), ACCEPTED]

    assert expected == link.start("r", orders)
    assert expected == link.start("r", tuple(orders))
    assert [orders[0], orders[2]] == there.orders
    assert [] == link.start("r", [])


def test_what_is_fenced_before_it_came_never_starts(executor_link: Executors) -> None:
    link, _ = executor_link
    link.start("r", [order(1)])

    assert ["running", "refused"] == link.fence(LIFE, [key(1), key(2)])
    assert [StartAnswer(accepted=False, reason="refused for ever")] == link.start("r", [order(2)])


def test_a_kill_order_arrives_with_its_reason(executor_link: Executors) -> None:
    link, there = executor_link
    link.kill(LIFE, [key(1), key(2, attempt=4)], "cancelled by ann")

    assert [(key(1), "cancelled by ann"), (key(2, attempt=4), "cancelled by ann")] == there.killed


def test_output_is_read_as_bytes(executor_link: Executors) -> None:
    link, there = executor_link
    there.output[key(1), "stderr"] = bytes(range(256))

    assert Tail(bytes(range(100)), 100, done=False) == link.tail(key(1), "stderr", 0, 100)
    assert Tail(bytes(range(100, 256)), 256, done=True) == link.tail(key(1), "stderr", 100, 1_000)
    assert None is link.tail(key(1), "stdout", 0, 100)


@each_call
@each_link_error
def test_what_the_executor_says_went_wrong_reaches_the_caller(
    executor_link: Executors, call: Callable[[ExecutorLink], object], kind: type[LinkRefused | LinkTimeout]
) -> None:
    link, there = executor_link
    there.error = kind("too busy", code="link.busy", hint="later")

    with pytest.raises(kind, match="too busy") as caught:
        call(link)
    assert (kind, "link.busy", "later") == (type(caught.value), caught.value.code, caught.value.hint)
    assert 1 == there.asked


def test_a_beat_arrives_as_it_was_sent_and_is_answered(orchestrator_link: Orchestrators) -> None:
    link, there = orchestrator_link
    there.kills = [key(1), key(2, attempt=1)]

    expected = BeatAnswer(
        counted=True,
        condemned=False,
        kills=[key(1), key(2, attempt=1)],
        orchestrators=[Address("o1", "http://o1:1")],
        drain=True,
    )
    assert expected == link.beat(FULL_BEAT)
    assert [FULL_BEAT] == there.beats


def test_results_arrive_as_they_were_sent_and_each_is_answered(orchestrator_link: Orchestrators) -> None:
    link, there = orchestrator_link
    late = Result(key(8, attempt=1), "o1.2", "e1", LIFE, "SUCCEEDED", 1, 2)

    assert [True, False] == link.results("e1", [FULL_RESULT, late])
    assert [FULL_RESULT, late] == there.accepted
    assert [] == link.results("e1", [])


@pytest.mark.parametrize("kind", [LinkRefused, LinkTimeout, Unavailable])
def test_what_the_orchestrator_says_went_wrong_reaches_the_caller(
    orchestrator_link: Orchestrators, kind: type[LinkRefused | LinkTimeout | Unavailable]
) -> None:
    link, there = orchestrator_link
    there.error = kind("the store is away", code="store.away")

    for call in (lambda: link.beat(FULL_BEAT), lambda: link.results("e1", [FULL_RESULT])):
        with pytest.raises(kind, match="the store is away") as caught:
            call()
        assert (kind, "store.away") == (type(caught.value), caught.value.code)


def test_many_threads_share_one_link(executor_link: Executors) -> None:
    link, there = executor_link
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: link.start("r", [order(number)]), range(200)))

    assert [[ACCEPTED]] * 200 == answers
    assert {key(number) for number in range(200)} == {one.key for one in there.orders}
