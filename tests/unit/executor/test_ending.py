"""From a report of the supervisor to what a user reads."""

from __future__ import annotations

import errno
from typing import Any

import pytest

from chronoshard.domain.attempt import Output
from chronoshard.domain.identity import AttemptKey
from chronoshard.executor.attempts import Attempt
from chronoshard.executor.ending import result_of_report
from chronoshard.link import Result, StartOrder

KEY = AttemptKey(0, "job", 0, 1, 0)
ORDER = StartOrder(KEY, "token", "1", "anna", "shell", 90_000, memory_mb=64)


def ended(*, sandboxed: bool = True, finished_ms: int = 2_000, **report: Any) -> Result:
    full = {
        "exit_code": 0,
        "cause": None,
        "refused_forks": 0,
        "sandbox_failed": False,
        "stdout_bytes": 3,
        "stderr_bytes": 4,
        "stdout_truncated": True,
        "stderr_truncated": False,
    }
    return result_of_report(
        Attempt(ORDER, 1_000),
        "e1",
        full | report,
        cancelled="asked for",
        sandboxed=sandboxed,
        finished_ms=finished_ms,
    )


@pytest.mark.parametrize(
    ("report", "state", "error"),
    [
        ({}, "SUCCEEDED", None),
        ({"exit_code": 3}, "FAILED", "exit code 3"),
        ({"exit_code": 137}, "FAILED", "exit code 137 (killed by SIGKILL)"),
        ({"exit_code": 254}, "FAILED", "exit code 254"),
        (
            {"exit_code": 2, "refused_forks": 9},
            "FAILED",
            "exit code 2, after it had reached its limit of processes",
        ),
        ({"exit_code": 0, "cause": "timeout"}, "TIMED_OUT", "ran longer than its timeout of 90 s"),
        ({"exit_code": 0, "cause": "cancel"}, "CANCELLED", "asked for"),
        ({"exit_code": 137, "cause": "silence"}, "LOST", "the executor was cut off and killed what it ran"),
        ({"exit_code": 137, "cause": "memory"}, "FAILED", "killed: it used more than its 64 MB of memory"),
        ({"exit_code": 137, "cause": "pids"}, "FAILED", "killed: it started more processes than it may"),
        ({"exit_code": 1, "sandbox_failed": True}, "LOST", "its sandbox could not be set up"),
    ],
)
def test_every_end_has_one_state_and_a_reason(report: dict[str, Any], state: str, error: str | None) -> None:
    result = ended(**report)

    assert (state, error, report.get("exit_code", 0)) == (result.state, result.error, result.exit_code)
    assert Output(3, 4, True, False) == result.output


def test_a_program_that_is_none_is_the_task_s_failure() -> None:
    result = ended(sandboxed=False, cause="spawn", errno=errno.ENOEXEC, detail="Exec format error")

    assert ("FAILED", 126, "could not be executed: Exec format error") == (
        result.state,
        result.exit_code,
        result.error,
    )


@pytest.mark.parametrize(("sandboxed", "number"), [(True, errno.ENOENT), (False, errno.EAGAIN), (False, None)])
def test_a_machine_that_cannot_start_anything_is_not_the_task_s_failure(
    sandboxed: bool, number: int | None
) -> None:
    assert "LOST" == ended(sandboxed=sandboxed, cause="spawn", errno=number, detail="no").state


def test_nothing_ends_before_it_starts_though_the_clock_was_set_back() -> None:
    assert (1_000, 1_000) == ((result := ended(finished_ms=500)).started_ms, result.finished_ms)
