"""Whoever dies or freezes, no attempt outlives the moment at which it may be called lost, and no result is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import psutil
import pytest

from tests.executor.bench import NAP, RUN_AWAY, Bench, sleepers, until

ROOT = Path(__file__).parents[2]
SLEEP = f"{RUN_AWAY}\n{NAP[4]}"
LONG_S = 3_600.0
WALLS = pytest.mark.parametrize("walled", [True, False], ids=["sandbox", "plain"])


class Alone:
    """An executor process; see alone.py."""

    def __init__(self, directory: Path, path: str, options: dict[str, Any]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.executor.alone", str(directory), json.dumps(options)],
            cwd=ROOT,
            env=os.environ | {"PATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.hears("ready")

    def hears(self, beginning: str) -> str:
        """Return the next line that begins so."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            if line.startswith(beginning):
                return line.strip()
        raise AssertionError("the executor has ended")

    def begin(self, source: str, timeout_ms: int = 600_000) -> None:
        stdin: IO[str] | None = self.process.stdin
        assert stdin is not None
        stdin.write(json.dumps({"source": source, "timeout_ms": timeout_ms}) + "\n")
        stdin.flush()

    def supervisor(self) -> psutil.Process:
        return supervisor_of(self.process.pid)

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


def supervisor_of(pid: int) -> psutil.Process:
    [found] = [
        process
        for process in psutil.Process(pid).children()
        if "chronoshard.executor.supervisor" in process.cmdline()
    ]
    return found


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Callable[..., Alone]]:
    started: list[Alone] = []
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "bash").symlink_to("/bin/bash")

    def start(*, walled: bool = True, **options: Any) -> Alone:
        path = os.environ["PATH"] if walled else str(programs)
        started.append(Alone(tmp_path / "executor", path, options))
        return started[-1]

    yield start
    for one in started:
        one.end()
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
    supervisor = first.supervisor()
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
