"""`next`: when something runs, in local time, in UTC and from now, with what daylight saving does to it.

An expression is worked out here, by the very code that the server uses: no server is needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from chronoshard.cli.failures import Exit
from chronoshard.cli.output import Output, show
from chronoshard.cli.parsing import parse_duration
from chronoshard.cli.session import connect, find_job, reader
from chronoshard.cli.table import render
from chronoshard.cli.words import Reader, epoch_ms, relative, rfc3339
from chronoshard.client.transport import Json
from chronoshard.errors import InvalidInput

if TYPE_CHECKING:
    from chronoshard.domain.schedule import Dst
    from chronoshard.domain.trigger import Trigger

MOST = 100
NAMED_BY_SERVER = 5  # next runs in a job's document; fewer: there are no more
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
            data = of_job(find_job(client, what).job, count=count, now_ms=view.now_ms)
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
    from chronoshard.domain.preview import describe
    from chronoshard.domain.schedule import Dst
    from chronoshard.domain.trigger import Cron, next_occurrences, validated

    given = Cron(schedule, zone)
    trigger = validated(given, now_ms=now_ms, job_id="")
    nominals = next_occurrences(trigger, after_ms=now_ms, dst=Dst(), count=count)
    own = ", where every job has its own value for H" if trigger != given else ""
    return {"description": f"{describe(trigger)}{own}", "times": _times(trigger, nominals, Dst())}


def of_job(job: Json, *, count: int, now_ms: int) -> Json:
    """Return `{description, times}` of a job: the runs that the server names, and what its trigger adds to them.

    The server knows what was edited, paused and counted; it names five runs, the trigger gives the ones after.
    """
    from chronoshard.domain.preview import describe
    from chronoshard.domain.schedule import Dst
    from chronoshard.domain.trigger import next_occurrences

    trigger, dst = _trigger_of(job, now_ms), Dst(**(job.get("dst") or {}))
    nominals = [epoch_ms(time) for time in job["next_runs"]]
    if len(nominals) == NAMED_BY_SERVER and "max_runs" not in job["trigger"]:
        nominals += next_occurrences(
            trigger, after_ms=nominals[-1], dst=dst, count=max(0, count - NAMED_BY_SERVER)
        )
    paused = {} if job["status"] == "scheduled" else {"status": job["status"]}
    return {"description": describe(trigger), "times": _times(trigger, nominals[:count], dst), **paused}


def _trigger_of(job: Json, now_ms: int) -> Trigger:
    """Return a job's trigger as the domain has it."""
    from chronoshard.domain.cron import expanded_for
    from chronoshard.domain.trigger import Cron, Interval, Manual, Now, Once

    document = job["trigger"]
    match document["kind"]:
        case "cron":
            return Cron(
                expanded_for(document["schedule"], job["job_id"]), document["zone"], **_bounds_of(document)
            )
        case "interval":
            every_ms = parse_duration(str(document["every"]), "every")
            start_ms = epoch_ms(job["next_runs"][0]) if job["next_runs"] else now_ms
            return Interval(every_ms, start_ms, **_bounds_of(document))
        case "once":
            return Once(epoch_ms(document["at"]))
        case "now":
            return Now(now_ms)
        case _:
            return Manual()


def _times(trigger: Trigger, nominals: Sequence[int], dst: Dst) -> list[Json]:
    from chronoshard.domain.preview import annotated
    from chronoshard.domain.timezones import zone_of
    from chronoshard.domain.trigger import Cron

    zone = zone_of(trigger.zone) if isinstance(trigger, Cron) else None
    entries = []
    for nominal_ms in nominals:
        local = datetime.fromtimestamp(nominal_ms / 1000, UTC).astimezone(zone)
        note = annotated(trigger, nominal_ms, dst)
        entry = {"utc": rfc3339(nominal_ms), "local": local.isoformat(timespec="seconds")}
        entries.append({**entry, "note": note} if note else entry)
    return entries


def _bounds_of(document: Json) -> dict[str, Any]:
    """Return the bounds of a recurring trigger by the domain's names."""
    times = {f"{name}_ms": epoch_ms(document[name]) for name in ("starts_at", "ends_at") if name in document}
    jitter = {"jitter_ms": parse_duration(str(document["jitter"]), "jitter")} if "jitter" in document else {}
    return {**times, **jitter, **({"max_runs": document["max_runs"]} if "max_runs" in document else {})}


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
