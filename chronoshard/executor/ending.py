"""From the supervisor's report of an end to the result that a user reads."""

from __future__ import annotations

import errno
import signal
from typing import Any

from chronoshard.domain.attempt import Output
from chronoshard.executor.attempts import Attempt
from chronoshard.link import Ended, Result, StartOrder

SIGNALLED = 128  # exit codes above it are 128 + the number of the signal, as shells have it
# What the program itself was, when it could not be executed; everything else is our failure.
UNUSABLE = {errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ELOOP, errno.ENOTDIR}
CANNOT_EXECUTE = 126
SILENT = "the executor was cut off and killed what it ran"
SIGNAL_NAMES = {number.value: number.name for number in signal.Signals}


def timeout_error(order: StartOrder) -> str:
    return f"ran longer than its timeout of {order.timeout_ms / 1000:g} s"


def result_of(
    attempt: Attempt,
    executor: str,
    state: Ended,
    *,
    finished_ms: int,
    exit_code: int | None = None,
    error: str | None = None,
    output: Output | None = None,
) -> Result:
    order = attempt.order
    return Result(
        order.key,
        order.token,
        executor,
        order.incarnation,
        state,
        attempt.started_ms,
        max(finished_ms, attempt.started_ms),  # the wall clock may have stepped back
        exit_code,
        error,
        output,
    )


def result_of_report(
    attempt: Attempt,
    executor: str,
    report: dict[str, Any],
    *,
    cancelled: str | None,
    sandboxed: bool,
    finished_ms: int,
) -> Result:
    """Return the result for an `ended` of the supervisor; see attempt_process.py for its causes.

    `cancelled` is the reason of the kill order, if there was one.
    """
    if report["cause"] == "spawn":
        return _not_executed(attempt, executor, report, sandboxed=sandboxed, finished_ms=finished_ms)
    state, error = _verdict(attempt, report, cancelled)
    output = Output(
        report["stdout_bytes"],
        report["stderr_bytes"],
        report["stdout_truncated"],
        report["stderr_truncated"],
    )
    return result_of(
        attempt,
        executor,
        state,
        finished_ms=finished_ms,
        exit_code=report["exit_code"],
        error=error,
        output=output,
    )


def _verdict(attempt: Attempt, report: dict[str, Any], cancelled: str | None) -> tuple[Ended, str | None]:
    order, code = attempt.order, report["exit_code"]
    match report["cause"]:
        case "timeout":
            return "TIMED_OUT", timeout_error(order)
        case "cancel":
            return "CANCELLED", cancelled
        case "silence" | "orphaned":
            return "LOST", SILENT
        case "memory":
            return "FAILED", f"killed: it used more than its {order.memory_mb} MB of memory"
        case "pids":
            return "FAILED", "killed: it started more processes than it may"
    if report["sandbox_failed"]:
        return "LOST", "its sandbox could not be set up"
    if code == 0:
        return "SUCCEEDED", None
    error = f"exit code {code}"
    if name := SIGNAL_NAMES.get(code - SIGNALLED):
        error += f" (killed by {name})"
    if report["refused_forks"]:
        error += ", after it had reached its limit of processes"
    return "FAILED", error


def _not_executed(
    attempt: Attempt, executor: str, report: dict[str, Any], *, sandboxed: bool, finished_ms: int
) -> Result:
    """A program that is no program is the task's failure; the rest is ours."""
    detail = f"could not be executed: {report['detail']}"
    if not sandboxed and report["errno"] in UNUSABLE:
        return result_of(
            attempt,
            executor,
            "FAILED",
            finished_ms=finished_ms,
            exit_code=CANNOT_EXECUTE,
            error=detail,
            output=Output(),
        )
    return result_of(attempt, executor, "LOST", finished_ms=finished_ms, error=detail)
