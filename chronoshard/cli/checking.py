"""`verify` and `doctor`: is everything accounted for, and is everything as it should be."""

from __future__ import annotations

from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from typing import Annotated, NamedTuple

from cyclopts import Parameter

from chronoshard.cli.about import own_version
from chronoshard.cli.failures import Exit, next_step
from chronoshard.cli.output import Output, show, state_paint
from chronoshard.cli.parsing import parse_time
from chronoshard.cli.session import connect, reader
from chronoshard.cli.table import pairs, render
from chronoshard.cli.words import rfc3339
from chronoshard.client import Client
from chronoshard.client.transport import Json
from chronoshard.clock import Clock, SystemClock
from chronoshard.errors import ChronoshardError, Forbidden, Unauthorized, Unavailable

SKEW_LIMIT_MS = 2_000  # the Date header counts whole seconds, and the answer took a moment
HALF_SECOND_MS = 500  # in the middle of the second that a Date header names
SLOW_MS = 500


class Check(NamedTuple):
    """One thing looked at; `advice` is one line on what to do when it is not ok."""

    check: str
    ok: bool
    detail: str
    advice: str | None = None


def verify(
    *,
    from_: Annotated[str | None, Parameter(name="--from")] = None,
    to: str | None = None,
    output: Output = "table",
) -> int:
    """Prove that everything due was started, skipped for a recorded reason, or is still open.

    Exit 0 if so, 1 with a list of what is not.

    Examples:
      chronoshard verify
      chronoshard verify --from 2027-03-01T00:00Z --to 2027-03-02T00:00Z

    Args:
        from_: from this time on (RFC 3339, or local); everything that is kept without
        to: up to this time; now without
    """
    now_ms = reader().now_ms
    bounds = [
        None if text is None else rfc3339(parse_time(text, option, now_ms=now_ms))
        for text, option in ((from_, "--from"), (to, "--to"))
    ]
    with connect() as client:
        answer = client.admin.verify(from_=bounds[0], to=bounds[1])
    faults: list[Json] = answer["problems"]
    show(answer, output, table=lambda: _account(answer), names=[str(fault["run_id"]) for fault in faults])
    return Exit.OK if answer["ok"] else Exit.FAILED


def doctor(*, output: Output = "table") -> int:
    """Check the way to the server, the server and its machine; one line of advice for each fault.

    Examples:
      chronoshard doctor
      chronoshard doctor -o json
    """
    with connect() as client:
        checks = [*check_way(client, SystemClock()), *_server_checks(client)]
    data = {"items": [check._asdict() for check in checks]}
    names = [check.check for check in checks if not check.ok]
    show(data, output, table=lambda: _findings(checks), names=names)
    return Exit.OK if all(check.ok for check in checks) else Exit.FAILED


def check_way(client: Client, clock: Clock) -> list[Check]:
    """Return what can be seen from here: reachable, how fast, whose clock is off, which versions."""
    client.transport.get("/version")  # connects, which is not what an answer takes
    began_s = clock.monotonic_s()
    answer = client.transport.get("/version")
    latency_ms = round((clock.monotonic_s() - began_s) * 1000)
    checks = [
        Check("server", True, client.url),
        Check(
            "latency",
            latency_ms < SLOW_MS,
            f"{latency_ms} ms for an answer",
            "the server or the way to it is slow: look at its load",
        ),
    ]
    date = answer.headers.get("date")
    if date is not None:
        server_ms = round(parsedate_to_datetime(date).timestamp() * 1000) + HALF_SECOND_MS
        skew_ms = server_ms - clock.now_ms()
        advice = "set both clocks by NTP; jobs run by the server's"
        checks.append(Check("clock", abs(skew_ms) < SKEW_LIMIT_MS, f"{skew_ms / 1000:+.1f} s to this one", advice))
    here, there = own_version(), str(answer.json().get("version"))
    checks.append(Check("version", here == there, f"{here} here, {there} there", "install the same version"))
    return checks


def _server_checks(client: Client) -> list[Check]:
    try:
        items: list[Json] = client.admin.doctor()["items"]
    except (Forbidden, Unauthorized, Unavailable) as error:
        return [Check("server's own checks", False, error.detail, next_step(error))]
    except ChronoshardError as error:
        return [Check("server's own checks", False, error.detail, "look at the server's log")]
    return [Check(str(item["check"]), bool(item["ok"]), str(item["detail"]), item.get("advice")) for item in items]


def _findings(checks: Sequence[Check]) -> str:
    rows = [(check.check, "ok" if check.ok else "failed", check.detail) for check in checks]
    table = render(("CHECK", "RESULT", "DETAIL"), rows, state_paint(1))
    advice = [f"{check.check}: {check.advice}" for check in checks if not check.ok and check.advice]
    return "\n".join([table, *(["", *advice] if advice else [])])


def _account(answer: Json) -> str:
    """Return the counts, and a line for each run that is not accounted for."""
    plain = [(key, value) for key, value in answer.items() if not isinstance(value, list | dict | bool)]
    lines = [pairs([(key.replace("_", " "), value) for key, value in plain]), ""]
    problems = answer["problems"]
    if problems:
        rows = [(fault["run_id"], fault["problem"], fault["detail"]) for fault in problems]
        lines.append(render(("RUN", "PROBLEM", "DETAIL"), rows))
    else:
        lines.append("everything due is accounted for")
    return "\n".join(lines)
