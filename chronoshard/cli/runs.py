"""`run`, `wait`, `explain`, `cancel`, `retry`: one run, from asking for it to knowing what became of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

from cyclopts import Parameter

from chronoshard.cli.failures import Exit
from chronoshard.cli.logs import follow_output
from chronoshard.cli.output import Output, show
from chronoshard.cli.parsing import parse_duration, parse_params
from chronoshard.cli.session import connect, find_job_id, reader
from chronoshard.cli.table import pairs
from chronoshard.cli.words import Reader
from chronoshard.client import Client
from chronoshard.client.runs import FINAL
from chronoshard.client.transport import Json, new_key
from chronoshard.clock import SystemClock

_FIRST_PAUSE_S = 0.05  # most runs that somebody waits for are short
_LONGEST_PAUSE_S = 1.0

RunWord = Annotated[str, Parameter(name="RUN", help="the run's id")]
JobWord = Annotated[str, Parameter(name="JOB", help="the job's name or id")]
Key = Annotated[str | None, Parameter(help="the same key asks once, however often it is sent")]


def run(
    word: JobWord,
    /,
    *,
    param: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    follow: Annotated[bool, Parameter(name=["--follow", "-f"], negative="")] = False,
    idempotency_key: Key = None,
    output: Output = "table",
) -> int:
    """Run a job now, whatever its schedule says.

    With --follow the output comes as it is printed, and the exit code is 0 only if the run succeeded.

    Examples:
      chronoshard run backup
      chronoshard run report --param month=3 --follow

    Args:
        param: K=V over the job's own params; V as JSON where it is JSON; repeatable
        follow: print the output until the run has ended
    """
    with connect() as client:
        job_id = find_job_id(client, word)
        answer = client.jobs.run(job_id, params=parse_params(param), key=idempotency_key or new_key())
        run_id = str(answer["run_id"])
        if not follow:
            show(answer, output, table=lambda: pairs([("run", run_id)]), names=[run_id])
            return Exit.OK
        print(f"run {run_id}", file=sys.stderr)
        follow_output(client, run_id)
        return _verdict(wait_for(client, run_id, None), "table", quiet=True)


def wait(run_id: RunWord, /, *, timeout: str | None = None, output: Output = "table") -> int:
    """Wait until a run has ended; exit 0 only if it succeeded, 1 otherwise.

    Examples:
      chronoshard wait RUN --timeout 10m && echo done
      chronoshard wait "$(chronoshard run backup -o name)"

    Args:
        timeout: give up after so long, as 90s or 10m
    """
    deadline_s = None if timeout is None else parse_duration(timeout, "--timeout") / 1000
    with connect() as client:
        return _verdict(wait_for(client, run_id, deadline_s), output)


def explain(run_id: RunWord, /, *, output: Output = "table") -> int:
    """Say why a run has not started, or what happened to each of its attempts.

    Examples:
      chronoshard explain RUN
    """
    with connect() as client:
        answer = client.runs.explain(run_id)
    show(answer, output, table=lambda: _sentences(answer), names=[run_id])
    return Exit.OK


def cancel(run_id: RunWord, /, *, output: Output = "table") -> int:
    """Stop a run, or keep it from starting.

    Examples:
      chronoshard cancel RUN
    """
    return _act(lambda client: client.runs.cancel(run_id, key=new_key()), run_id, output)


def retry(run_id: RunWord, /, *, output: Output = "table") -> int:
    """Run a run that has failed once more, as its next attempt.

    Examples:
      chronoshard retry RUN
    """
    return _act(lambda client: client.runs.retry(run_id, key=new_key()), run_id, output)


def wait_for(client: Client, run_id: str, limit_s: float | None) -> Json:
    """Return the run when it has ended, or as it is after `limit_s`."""
    clock = SystemClock()
    began_s, pause_s = clock.monotonic_s(), _FIRST_PAUSE_S
    while True:
        found = client.runs.get(run_id)
        left_s = None if limit_s is None else limit_s - (clock.monotonic_s() - began_s)
        if found["state"] in FINAL or (left_s is not None and left_s <= 0):
            return found
        client.transport.pause(pause_s if left_s is None else min(pause_s, left_s))
        pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)


def run_lines(found: Json, view: Reader) -> str:
    """Return a run as lines: its state, and each attempt with what came of it."""
    attempts = [_attempt_words(attempt, view) for attempt in found.get("attempts") or ()]
    return pairs(
        [
            ("run", found["run_id"]),
            ("state", found["state"]),
            ("nominal", view.both_of(found.get("nominal_time"))),
            ("attempts", attempts),
        ]
    )


def _verdict(found: Json, output: Output, *, quiet: bool = False) -> int:
    if found["state"] not in FINAL:
        print(f"run {found['run_id']} is still {found['state']}", file=sys.stderr)
    elif quiet:
        print(f"run {found['run_id']} {found['state']}{_exit_words(found)}", file=sys.stderr)
    if not quiet:
        view = reader()
        show(found, output, table=lambda: run_lines(found, view), names=[str(found["run_id"])])
    return Exit.OK if found["state"] == "succeeded" else Exit.FAILED


def _exit_words(found: Json) -> str:
    """Return why a run ended as it did: ` (exit code 3)`, or nothing."""
    last: Json = (found.get("attempts") or [{}])[-1]
    why = (
        last.get("error")
        or last.get("reason")
        or (f"exit code {last['exit_code']}" if last.get("exit_code") else "")
    )
    return f" ({why})" if why else ""


def _attempt_words(attempt: Json, view: Reader) -> str:
    """Return `0 failed (schedule): exit code 3, on executor-1, 14:03:00 (4m ago)`."""
    code, error, cause = attempt.get("exit_code"), attempt.get("error"), attempt.get("cause")
    facts = [
        f"exit code {code}" if code is not None else None,
        str(error) if error and error != f"exit code {code}" else None,
        str(attempt["reason"]) if attempt.get("reason") else None,
        f"on {attempt['executor']}" if attempt.get("executor") else None,
        view.both_of(attempt.get("finished") or attempt.get("started") or attempt.get("due")),
    ]
    told = ", ".join(fact for fact in facts if fact)
    return f"{attempt['attempt']} {attempt['state']}{f' ({cause})' if cause else ''}{': ' if told else ''}{told}"


def _sentences(answer: Json) -> str:
    state = answer.get("state")
    reasons = answer["reasons"]
    return "\n".join([*([f"It is {state}."] if state else []), *(str(reason) for reason in reasons)])


def _act(ask: Callable[[Client], Json], run_id: str, output: Output) -> int:
    with connect() as client:
        answer = ask(client)
    told = [("run", run_id), ("state", answer.get("state"))]
    show(answer, output, table=lambda: pairs(told), names=[run_id])
    return Exit.OK
