"""Real code in real processes: what it sees, what becomes of what it prints, how its end is reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chronoshard.domain.attempt import Output
from tests.executor.bench import JOB, Bench

PARAMS = b'{"name":"Zo\\u00eb","max-rows":3,"deep":{"a":[1,null]}}'
SHOW_ENVIRONMENT = """
import json, os, sys
print(json.dumps({"env": dict(os.environ), "stdin": json.load(sys.stdin), "files": os.listdir(".")}))
"""


@pytest.fixture
def running(bench: Bench) -> Bench:
    return bench.start()


def test_a_task_sees_its_params_its_run_and_nothing_of_the_host(running: Bench) -> None:
    order = running.begin("python", SHOW_ENVIRONMENT, params=PARAMS)

    result = running.result(order)

    assert "SUCCEEDED" == result.state, running.printed(result, "stderr")
    seen = json.loads(running.printed(result))
    assert {"name": "Zoë", "max-rows": 3, "deep": {"a": [1, None]}} == seen["stdin"]
    assert [] == seen["files"]
    seen["env"].pop("PWD", None)
    assert {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LANG": "C.UTF-8",
        "HOME": "/tmp/work",
        "TMPDIR": "/tmp",
        "CHRONOSHARD_PARAM_NAME": "Zoë",
        "CHRONOSHARD_PARAM_MAX_ROWS": "3",
        "CHRONOSHARD_PARAM_DEEP": '{"a":[1,null]}',
        "CHRONOSHARD_JOB_ID": JOB,
        "CHRONOSHARD_RUN_ID": order.key.run.id,
        "CHRONOSHARD_ATTEMPT": "0",
        "CHRONOSHARD_NOMINAL_TIME": "2026-01-01T00:00:00Z",
        "CHRONOSHARD_INCARNATION": order.incarnation,
    } == seen["env"]


def test_the_streams_are_kept_apart_and_the_exit_code_is_told(running: Bench) -> None:
    result = running.run("shell", "echo out; echo err >&2; exit 7")

    assert ("FAILED", 7, "exit code 7") == (result.state, result.exit_code, result.error)
    assert (b"out\n", b"err\n") == (running.printed(result), running.printed(result, "stderr"))
    assert Output(4, 4) == result.output


def test_what_prints_nothing_leaves_no_blob(running: Bench) -> None:
    result = running.run("shell", "true")

    assert Output() == result.output
    assert [] == [key for key in running.blobs.kept if key.startswith("output/")]


def test_a_shell_can_open_its_streams_by_name(running: Bench) -> None:
    result = running.run("shell", "cat /dev/stdin; echo > /dev/stdout; echo oops > /dev/stderr", params=b'{"a":1}')

    assert (b'{"a":1}\n', b"oops\n") == (running.printed(result), running.printed(result, "stderr"))


def test_javascript_runs_where_there_is_a_runtime(running: Bench) -> None:
    code = """
    import process from "node:process";
    console.log("job " + process.env.CHRONOSHARD_JOB_ID);
    process.exit(4);
    """

    result = running.run("javascript", code)

    assert ("FAILED", 4) == (result.state, result.exit_code), running.printed(result, "stderr")
    assert f"job {JOB}\n".encode() == running.printed(result)


def test_a_program_is_run_as_it_was_uploaded(running: Bench) -> None:
    result = running.run("binary", Path("/bin/true").resolve().read_bytes())

    assert "SUCCEEDED" == result.state


def test_a_script_with_a_first_line_is_a_program_too(running: Bench) -> None:
    result = running.run("binary", "#!/bin/sh\necho from $0\n")

    assert ("SUCCEEDED", b"from /task/main\n") == (result.state, running.printed(result))


def test_what_is_no_program_fails_and_says_so(running: Bench) -> None:
    result = running.run("binary", "\0\1\2 no program")

    assert "FAILED" == result.state
    assert b"main" in running.printed(result, "stderr")


def test_a_task_killed_by_a_signal_says_which(running: Bench) -> None:
    result = running.run("shell", "kill -SEGV $$")

    assert ("FAILED", 139, "exit code 139 (killed by SIGSEGV)") == (result.state, result.exit_code, result.error)


def test_code_that_is_not_in_the_store_is_a_failure_of_the_task(running: Bench) -> None:
    result = running.run("python", task_id="sha256:" + "0" * 64)

    assert "FAILED" == result.state
    assert result.error is not None
    assert result.error.startswith("task.missing: ")


def test_code_that_was_changed_in_the_store_is_not_run(running: Bench) -> None:
    task_id = running.task("shell", "echo harmless")
    running.blobs.kept[f"tasks/{task_id.removeprefix('sha256:')}"] = b"shell\necho evil"

    result = running.run("shell", task_id=task_id)

    assert "FAILED" == result.state
    assert result.error is not None
    assert result.error.startswith("task.corrupt: ")


def test_a_runtime_that_is_not_here_is_refused_with_its_name(running: Bench) -> None:
    [answer] = running.send(running.order("cobol", "DISPLAY 'HELLO'"))

    assert not answer.accepted
    assert answer.reason.startswith("runtime.missing: ")


def test_output_is_followed_while_the_task_runs(running: Bench) -> None:
    order = running.begin("python", "import sys\nprint('one')\nsys.stdin.close()\nimport signal\nsignal.pause()")
    running.prints(order, b"one\n")

    first = running.executor.link.tail(order.key, "stdout", 1, 2)

    assert first is not None
    assert (b"ne", 3, False) == (first.data, first.next_offset, first.done)
    running.executor.link.kill(running.incarnation, [order.key], "enough")
    assert "CANCELLED" == running.result(order).state


def test_output_beyond_the_limit_is_cut_and_said_to_be(running: Bench) -> None:
    result = running.run("shell", "yes | head -c 1000000000; echo done >&2", output_limit=1_000_000)

    assert Output(1_000_000, 5, True, False) == result.output
    assert ("SUCCEEDED", 1_000_000) == (result.state, len(running.printed(result)))


def test_attempts_run_side_by_side(running: Bench) -> None:
    orders = [running.order("shell", f"echo {n}; exit 0") for n in range(20)]

    assert [True] * 20 == [answer.accepted for answer in running.send(*orders)]

    assert [f"{n}\n".encode() for n in range(20)] == [running.printed(running.result(o)) for o in orders]
