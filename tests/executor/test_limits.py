"""What a task cannot do: run on after its end, take the machine with it, get out."""

from __future__ import annotations

import resource
from pathlib import Path

import psutil
import pytest

from tests.executor.bench import NAP, RUN_AWAY, Bench, sleepers

# Each stops by itself at a size that no machine minds, should the limit that is tested not hold.
EAT_MEMORY = "blocks = [bytearray(16 * 1024 * 1024) for _ in range(60)]"
FORK_MANY = """
import os, time
for _ in range(400):
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
"""
FILL_DISK = """
import errno
with open("/tmp/full", "wb") as file:
    try:
        for _ in range(64): file.write(bytes(1024 * 1024))
    except OSError as error:
        print(errno.errorcode[error.errno])
"""
LOOK_OUTSIDE = """
import os, socket
for path in ("/etc/shadow", "/etc/gshadow", "/home", os.environ.get("SECRET", "/var/log")):
    print(path, os.path.exists(path))
print(os.getuid() != 0, len([n for n in os.listdir("/proc") if n.isdigit()]) < 10)
for path in ("/", "/usr", "/etc", "/dev", "/task"):
    print(path, os.access(path, os.W_OK))
"""


@pytest.fixture
def running(bench: Bench) -> Bench:
    return bench.start()


def test_at_its_timeout_a_task_gets_a_signal_that_it_can_answer(running: Bench) -> None:
    code = "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done"

    result = running.run("shell", code, timeout_ms=1_000)

    assert ("TIMED_OUT", "ran longer than its timeout of 1 s") == (result.state, result.error)
    assert b"up\nbye\n" == running.printed(result)


def test_a_task_that_ignores_the_signal_is_killed(running: Bench) -> None:
    result = running.run("shell", "trap '' TERM; echo up; while :; do sleep 0.1; done", timeout_ms=300)

    assert ("TIMED_OUT", 137) == (result.state, result.exit_code)


def test_at_its_timeout_the_whole_tree_ends(running: Bench) -> None:
    result = running.run("shell", f"{RUN_AWAY}\nwait; {NAP[4]}", timeout_ms=1_500)

    assert "TIMED_OUT" == result.state
    assert [] == sleepers()


def test_what_a_task_leaves_behind_ends_with_it(running: Bench) -> None:
    result = running.run("shell", f"{RUN_AWAY}\necho left")

    assert ("SUCCEEDED", b"left\n") == (result.state, running.printed(result))
    assert [] == sleepers()


def test_a_cancelled_task_ends_with_its_whole_tree(running: Bench) -> None:
    order = running.begin("shell", f"{RUN_AWAY}\necho up; wait; {NAP[4]}")
    running.prints(order, b"up")

    running.executor.link.kill(running.incarnation, [order.key], "asked for by anna")

    result = running.result(order)
    assert ("CANCELLED", "asked for by anna") == (result.state, result.error)
    assert [] == sleepers()


def test_a_task_that_takes_too_much_memory_fails_alone_and_says_why(running: Bench) -> None:
    neighbour = running.begin("shell", "read line; echo $line; sleep 0.5", params=b'{"a":1}')

    result = running.run("python", EAT_MEMORY, memory_mb=64)

    assert ("FAILED", "killed: it used more than its 64 MB of memory") == (result.state, result.error)
    assert "SUCCEEDED" == running.result(neighbour).state


def test_a_task_that_starts_too_many_processes_is_refused_more(running: Bench) -> None:
    result = running.run("python", FORK_MANY)

    assert ("FAILED", "exit code 1, after it had reached its limit of processes") == (result.state, result.error)
    assert b"BlockingIOError" in running.printed(result, "stderr")
    assert "SUCCEEDED" == running.run("shell", "echo well").state


def test_the_private_disk_of_a_task_has_a_limit(bench: Bench) -> None:
    bench.start(temporary_mb=8)

    result = bench.run("python", FILL_DISK)

    assert ("SUCCEEDED", b"ENOSPC\n") == (result.state, bench.printed(result))


def test_a_sandboxed_task_sees_and_changes_nothing_of_the_host(running: Bench) -> None:
    assert "bubblewrap" == running.executor.sandbox

    result = running.run("python", LOOK_OUTSIDE)

    assert [
        "/etc/shadow False",
        "/etc/gshadow False",
        "/home False",
        "/var/log False",
        "True True",
        "/ False",
        "/usr False",
        "/etc False",
        "/dev False",
        "/task False",
    ] == running.printed(result).decode().splitlines()


def test_a_task_without_a_network_has_only_its_own_loopback(running: Bench) -> None:
    result = running.run("shell", "tail -n +3 /proc/net/dev | cut -d: -f1", network=False)

    assert b"lo" == running.printed(result).strip()


def test_a_gigabyte_of_output_costs_the_executor_no_memory(running: Bench) -> None:
    supervisor = [p for p in psutil.Process().children() if "supervisor" in " ".join(p.cmdline())]
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    result = running.run("shell", "head -c 1073741824 /dev/zero", output_limit=1_000)

    assert "SUCCEEDED" == result.state
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < 20_000
    assert [True] == [p.memory_info().rss < 60_000_000 for p in supervisor]


def test_what_tasks_may_read_is_shown_wherever_it_lies(bench: Bench, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "prices").write_text("12\n")
    bench.start(readable=(str(shared),))

    result = bench.run("shell", f"cat {shared}/prices; touch {shared}/new || ls {tmp_path}")

    assert b"12\nshared\n" == bench.printed(result)
