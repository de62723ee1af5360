"""Processes are found by descent and by mark, and only the very one that was meant is signalled."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from chronoshard.executor.process_tree import (
    Process,
    descendants,
    marked,
    read_process,
    send_signal,
    signal_all,
    snapshot,
)


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process with a child of its own, both with a mark."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", "sleep 600 & echo $!; wait"],
        env={"MARK": f"here-{os.getpid()}", "PATH": "/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    yield process
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def grandchild_of(child: subprocess.Popen[bytes]) -> int:
    assert child.stdout is not None
    return int(child.stdout.readline())


def test_descendants_are_found_below_the_living_roots(child: subprocess.Popen[bytes]) -> None:
    grandchild = grandchild_of(child)

    assert {child.pid, grandchild} == descendants(snapshot(), [child.pid, 2**22 + 1])


def test_a_mark_is_a_whole_line_of_the_environment(child: subprocess.Popen[bytes]) -> None:
    both = {child.pid, grandchild_of(child)}
    processes = snapshot()

    assert both == marked(processes, f"MARK=here-{os.getpid()}")
    assert set() == marked(processes, f"MARK=here-{os.getpid()}"[:-1])


def test_a_stranger_with_the_same_pid_is_left_alone(child: subprocess.Popen[bytes]) -> None:
    grandchild_of(child)  # it has begun
    process = read_process(child.pid)
    assert process is not None
    earlier = process._replace(start_ticks=process.start_ticks - 1)

    assert not send_signal(earlier, signal.SIGKILL)
    assert child.poll() is None
    assert send_signal(process, signal.SIGKILL)
    assert -signal.SIGKILL == child.wait()


def test_who_is_gone_gets_no_signal() -> None:
    gone = Process(2**22 + 1, 1, 1, 1, 0)

    assert 0 == signal_all({gone.pid: gone}, [gone.pid, 1], signal.SIGKILL)


def test_one_that_waits_to_be_reaped_does_not_live() -> None:
    process = subprocess.Popen(["/bin/true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    assert read_process(process.pid) is None
    process.wait()
