"""`next`: when something runs, in local time, in UTC and from now, with what daylight saving does to it.

An expression is worked out here, by the very code that the server uses: no server is needed.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated

from cyclopts import Parameter

from chronoshard.cli.failures import Exit
from chronoshard.cli.output import Output, show
from chronoshard.cli.session import connect, find_job, reader
from chronoshard.cli.table import render
from chronoshard.cli.words import Reader, epoch_ms, relative, rfc3339
from chronoshard.client import Client
from chronoshard.client.transport import Json
from chronoshard.errors import InvalidInput

MOST = 100
_RECURRING = ("cron", "interval")
_FIELD = re.compile(r"[\d*?/,#LWH()A-Za-z-]+")


def upcoming(
    what: Annotated[str, Parameter(name="JOB_OR_CRON")],
    /,
    *,
    count: Annotated[int, Parameter(name=["--count", "-n"])] = 5,
    zone: str | None = None,
    output: Output = "table",
) -> int:
    """Say when a job, or a cron expression, runs next; an expression needs no server.

    Examples:
      chronoshard next "*/15 9-17 * * MON-FRI" --zone Europe/Berlin
      chronoshard next "30 2 * * *" --zone Europe/Berlin -n 10
      chronoshard next backup

    Args:
        what: a job's name or id, or a cron expression in quotes
        count: how many times to show, up to 100
        zone: IANA time zone of the expression; UTC without
    """
    if not 1 <= count <= MOST:
        raise InvalidInput(f"a count is between 1 and {MOST}", code="usage.count", pointer="--count")
    view = reader()
    if is_expression(what):
        data = of_expression(what, zone or "UTC", count=count, now_ms=view.now_ms)
    elif zone is not None:
        raise InvalidInput(f"{what!r} is a job, and a job has its own zone", code="usage.zone", pointer="--zone")
    else:
        with connect() as client:
            data = _of_job(client, what, count, view)
    show(data, output, table=lambda: _page(data, view), names=[entry["utc"] for entry in data["times"]])
    return Exit.OK


def is_expression(word: str) -> bool:
    """Whether a word is meant as a cron expression, also as a wrong one, and not as a job's name."""
    fields = word.split()
    if word.startswith("@"):
        return True
    return len(fields) > 1 and fields[0][0] in "*?H0123456789" and all(_FIELD.fullmatch(f) for f in fields)


def of_expression(schedule: str, zone: str, *, count: int, now_ms: int) -> Json:
    """Return `{description, times}` of a cron expression, as the server's preview would."""
    from chronoshard.domain.preview import annotated, describe
    from chronoshard.domain.schedule import Dst
    from chronoshard.domain.timezones import zone_of
    from chronoshard.domain.trigger import Cron, next_occurrences, validated

    given = Cron(schedule, zone)
    trigger = validated(given, now_ms=now_ms, job_id="")
    times = []
    for nominal_ms in next_occurrences(trigger, after_ms=now_ms, dst=Dst(), count=count):
        local = datetime.fromtimestamp(nominal_ms / 1000, UTC).astimezone(zone_of(zone))
        note = annotated(trigger, nominal_ms, Dst())
        entry = {"utc": rfc3339(nominal_ms), "local": local.isoformat()}
        times.append({**entry, "note": note} if note else entry)
    own = ", where every job has its own value for H" if trigger != given else ""
    return {"description": f"{describe(trigger)}{own}", "times": times}


def _of_job(client: Client, word: str, count: int, view: Reader) -> Json:
    job = find_job(client, word).job
    trigger = job.get("trigger") or {}
    paused = {"status": job["status"]} if job.get("status") not in (None, "scheduled") else {}
    if trigger.get("kind") in _RECURRING and not paused:
        return client.preview(trigger, dst=job.get("dst"), count=count)
    times = [{"utc": time, "local": _local(time, view)} for time in (job.get("next_runs") or ())[:count]]
    return {"description": str(trigger.get("kind")), "times": times, **paused}


def _local(time: str, view: Reader) -> str:
    return view.local(epoch_ms(time)).isoformat()


def _page(data: Json, view: Reader) -> str:
    rows = [_row(entry, view) for entry in data["times"]]
    status = f" ({data['status']})" if data.get("status") else ""
    title = f"{data['description']}{status}"
    return f"{title}\n\n{render(('LOCAL', 'UTC', 'WHEN', 'NOTE'), rows)}" if rows else f"{title}: never"


def _row(entry: Json, view: Reader) -> tuple[str, ...]:
    when = relative(epoch_ms(entry["utc"]), view.now_ms)
    return (_spoken(entry["local"]), entry["utc"], when, entry.get("note", " "))


def _spoken(local: str) -> str:
    """Return an RFC 3339 time as `Mon 2027-03-01 09:00:00 +01:00`."""
    there = datetime.fromisoformat(local)
    return f"{there:%a %Y-%m-%d %H:%M:%S} {there.isoformat()[-6:]}"
