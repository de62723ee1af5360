"""Whoever dies or freezes, no attempt outlives the moment at which it may be called lost, and no result is."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.executor.alone import Alone, supervisor_of
from tests.executor.bench import NAP, RUN_AWAY, Bench, sleepers, until

SLEEP = f"{RUN_AWAY}\n{NAP[4]}"
LONG_S = 3_600.0
WALLS = pytest.mark.parametrize("walled", [True, False], ids=["sandbox", "plain"])


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Callable[..., Alone]]:
    programs = tmp_path / "programs"  # a machine without bubblewrap
    programs.mkdir()
    (programs / "bash").symlink_to("/bin/bash")
    with ExitStack() as stack:

        def start(*, walled: bool = True, **options: Any) -> Alone:
            path = os.environ["PATH"] if walled else str(programs)
            return stack.enter_context(Alone(tmp_path / "executor", path=path, **options))

        yield start
    until(lambda: not sleepers())


@WALLS
def test_what_a_killed_executor_ran_dies_at_once(alone: Callable[..., Alone], walled: bool) -> None:
    executor = alone(walled=walled)
    executor.begin(SLEEP)
    until(lambda: len(sleepers()) >= 5)

    executor.signal(signal.SIGKILL)

    until(lambda: not sleepers())


def test_a_frozen_executor_s_tasks_still_end_at_their_timeout(alone: Callable[..., Alone]) -> None:
    executor = alone(rhythm=[0.2, 0.1, LONG_S])
    executor.begin(SLEEP, timeout_ms=2_000)
    until(lambda: len(sleepers()) >= 5)

    executor.signal(signal.SIGSTOP)

    until(lambda: not sleepers())
    executor.signal(signal.SIGCONT)
    assert "result TIMED_OUT ran longer than its timeout of 2 s" == executor.hears("result")


def test_what_a_frozen_executor_runs_is_dead_before_it_may_be_lost(alone: Callable[..., Alone]) -> None:
    executor = alone(rhythm=[0.2, 0.1, 2.0])
    executor.begin(SLEEP)
    until(lambda: len(sleepers()) >= 5)

    executor.signal(signal.SIGSTOP)

    until(lambda: not sleepers())
    executor.signal(signal.SIGCONT)
    assert executor.hears("result").startswith("result LOST")


@WALLS
def test_a_new_life_kills_what_executor_and_supervisor_left(alone: Callable[..., Alone], walled: bool) -> None:
    first = alone(walled=walled, control_groups=False)
    first.begin(f"(setsid sh -c '{NAP[0]} & {NAP[1]}' &); {NAP[4]}")
    until(lambda: len(sleepers()) >= 3)
    supervisor = supervisor_of(first.process.pid)
    first.signal(signal.SIGSTOP)
    supervisor.kill()
    first.signal(signal.SIGKILL)
    first.process.wait()

    alone(walled=walled, control_groups=False)

    assert [] == sleepers()


@WALLS
def test_a_supervisor_killed_alone_takes_its_tasks_along(
    bench: Bench, walled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not walled:
        (tmp_path / "bash").symlink_to("/bin/bash")
        monkeypatch.setenv("PATH", str(tmp_path))
    bench.start()
    order = bench.begin("shell", SLEEP)
    until(lambda: len(sleepers()) >= 5)

    supervisor_of(os.getpid()).kill()

    result = bench.result(order)
    assert ("LOST", "the supervisor of the executor died") == (result.state, result.error)
    assert [] == sleepers()
    assert "SUCCEEDED" == bench.run("shell", "true").state


def test_a_supervisor_that_is_stuck_is_replaced(bench: Bench) -> None:
    bench.start(rhythm=(0.2, 0.1, LONG_S))
    order = bench.begin("shell", SLEEP)
    until(lambda: len(sleepers()) >= 5)

    supervisor_of(os.getpid()).suspend()

    assert "LOST" == bench.result(order).state
    assert [] == sleepers()
    assert "SUCCEEDED" == bench.run("shell", "true").state
