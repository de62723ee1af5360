"""An executor that dies at each of its steps: the next life accounts for what it held, and nothing is doubled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from chronoshard.failpoints import armed
from tests.executor.alone import Alone
from tests.executor.bench import NAP, Bench, sleepers, until


@pytest.fixture
def crashing(bench: Bench) -> Iterator[Callable[[str], Alone]]:
    """Start an executor on the bench's directory that dies at a failpoint."""
    with ExitStack() as stack:
        yield lambda point: stack.enter_context(Alone(bench.directory, failpoints=f"{point}=kill"))


@pytest.mark.parametrize(
    ("point", "survives"),
    [
        ("executor.started", False),
        ("executor.prepared", False),
        ("executor.spooled", True),
        ("executor.output_stored", True),
        ("executor.results_sent", True),
    ],
)
def test_after_a_crash_the_next_life_has_the_result_or_says_that_there_is_none(
    bench: Bench, crashing: Callable[[str], Alone], point: str, survives: bool
) -> None:
    first = crashing(point)
    first.begin(f"setsid {NAP[0]} & echo out")
    first.process.wait()

    bench.start()

    bench.orchestrator.wait(lambda: bench.orchestrator.beats[-1].leftovers_done)
    assert [] == sleepers()
    states = [result.state for result in bench.orchestrator.got.values()]
    assert (["SUCCEEDED"] if survives else []) == states


def test_an_executor_that_dies_before_its_first_beat_leaves_nothing(bench: Bench) -> None:
    with Alone(bench.directory, failpoints="executor.before_beat=kill", wait=False) as first:
        first.process.wait()

    bench.start()

    assert bench.orchestrator.beats[0].leftovers_done


@pytest.mark.parametrize(
    "point", ["executor.spooled", "executor.output_stored", "executor.results_sent", "executor.before_beat"]
)
def test_a_step_that_fails_is_done_again(bench: Bench, point: str) -> None:
    failures = iter([RuntimeError("once")])
    reached = []

    def fail_once() -> None:
        reached.append(point)
        for failure in failures:
            raise failure

    with armed(point, fail_once):
        bench.start()

        assert "SUCCEEDED" == bench.run("shell", "echo out").state
    until(lambda: reached)


def test_a_start_whose_answer_is_lost_may_be_repeated(bench: Bench) -> None:
    bench.start()
    order = bench.order("shell", "echo once")

    def lose() -> None:
        raise RuntimeError("the answer is lost")

    with armed("executor.started", lose), pytest.raises(RuntimeError):
        bench.send(order)

    assert [True] == [answer.accepted for answer in bench.send(order)]
    bench.result(order)
    assert 1 == len([result for result in bench.orchestrator.received if result.key == order.key])


def test_an_attempt_that_cannot_be_sent_is_lost_and_not_silent(bench: Bench) -> None:
    bench.start()

    def fail() -> None:
        raise RuntimeError("no")

    with armed("executor.prepared", fail):
        result = bench.run("shell", "true")

    assert ("LOST", "the executor could not start it: no") == (result.state, result.error)
    assert "SUCCEEDED" == bench.run("shell", "true").state
