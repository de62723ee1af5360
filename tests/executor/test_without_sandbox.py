"""Plain processes, with and without control groups: fewer walls, the same ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from chronoshard.errors import Unavailable
from tests.executor.bench import NAP, RUN_AWAY, Bench, sleepers

SHOW = (
    "import json, os\nprint(json.dumps([os.listdir('.'), os.getcwd() == os.environ['HOME'], sorted(os.environ)]))"
)
# Each stops by itself at a size that no machine minds, should the limit that is tested not hold.
EAT_MEMORY = "import time\nblocks = [bytearray(1024 * 1024) for _ in range(300)]\ntime.sleep(30)"
FORK_MANY = """
import os, time
for _ in range(150):
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
time.sleep(30)
"""
FILL_DISK = """
import errno
with open("full", "wb") as file:
    try:
        for _ in range(64): file.write(bytes(1024 * 1024))
    except OSError as error:
        print(errno.errorcode[error.errno])
"""


@pytest.fixture(params=[True, False], ids=["control groups", "process tree"])
def plain(bench: Bench, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bench:
    programs = tmp_path / "programs"  # a machine without bubblewrap
    programs.mkdir()
    (programs / "bash").symlink_to("/bin/bash")
    monkeypatch.setenv("PATH", str(programs))
    return bench.start(control_groups=request.param, pids=60, temporary_mb=8)


def test_a_plain_executor_says_so_in_every_beat(plain: Bench) -> None:
    assert "plain: bubblewrap is not installed" == plain.executor.sandbox
    assert {plain.executor.sandbox} == {beat.sandbox for beat in plain.orchestrator.beats}


def test_where_a_sandbox_is_required_nothing_starts_without(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(Unavailable) as refused:
        bench.start(require_sandbox=True)

    assert "sandbox.required" == refused.value.code


def test_a_plain_task_has_an_empty_directory_and_a_clean_environment(plain: Bench) -> None:
    result = plain.run("python", SHOW)

    names = "ATTEMPT", "INCARNATION", "JOB_ID", "NOMINAL_TIME", "RUN_ID"
    expected = [*(f"CHRONOSHARD_{name}" for name in names), "HOME", "LANG", "PATH", "TMPDIR"]
    listed = ", ".join(f'"{name}"' for name in expected)
    assert f"[[], true, [{listed}]]\n" == plain.printed(result).decode()


def test_the_files_of_a_plain_task_go_with_it(plain: Bench) -> None:
    order = plain.begin("shell", "mkdir deep; echo x > deep/file; echo $HOME")

    result = plain.result(order)

    assert "SUCCEEDED" == result.state
    assert [] == list(plain.directory.glob("lives/*/attempts/*/scratch/*"))


def test_what_runs_away_from_a_plain_task_is_caught(plain: Bench) -> None:
    order = plain.begin("shell", f"PATH=/usr/bin:/bin\n{RUN_AWAY}\necho up; sleep 0.6; echo left")

    result = plain.result(order)

    assert ("SUCCEEDED", b"up\nleft\n") == (result.state, plain.printed(result))
    assert [] == sleepers()


def test_a_plain_task_at_its_timeout_ends_with_its_tree(plain: Bench) -> None:
    result = plain.run("shell", f"{RUN_AWAY}\n{NAP[4]}", timeout_ms=700)

    assert "TIMED_OUT" == result.state
    assert [] == sleepers()


def test_the_memory_of_a_plain_task_is_limited(plain: Bench) -> None:
    result = plain.run("python", EAT_MEMORY, memory_mb=64)

    assert ("FAILED", "killed: it used more than its 64 MB of memory") == (result.state, result.error)


def test_a_plain_task_may_start_only_so_many_processes(plain: Bench) -> None:
    result = plain.run("python", FORK_MANY)

    assert "FAILED" == result.state
    assert result.error is not None
    assert "processes" in result.error
    assert "SUCCEEDED" == plain.run("shell", "true").state


def test_a_file_of_a_plain_task_has_a_limit(plain: Bench) -> None:
    result = plain.run("python", FILL_DISK)

    assert ("SUCCEEDED", b"EFBIG\n") == (result.state, plain.printed(result))


def test_what_is_no_program_cannot_be_executed(plain: Bench) -> None:
    result = plain.run("binary", "\0\1\2 no program")

    assert ("FAILED", 126) == (result.state, result.exit_code)
