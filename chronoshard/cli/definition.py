"""The options that describe a job, the same for `submit` and `edit`, and the request body that they mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter

from chronoshard.cli.parsing import parse_pairs, parse_params, parse_time
from chronoshard.cli.words import rfc3339
from chronoshard.client.transport import Json
from chronoshard.errors import InvalidInput

_TRIGGERS = "--cron, --every, --at, --now or --manual"
_ON = Parameter(negative="")
_MANY = Parameter(negative=())


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Definition:
    name: str | None = None
    "what to call the job: unique among yours"
    cron: str | None = None
    'run by a cron expression, as "*/5 * * * *"'
    every: str | None = None
    "run at a fixed interval, as 90s, 5m, 1h30m"
    at: str | None = None
    "run once: RFC 3339, a local time in --zone, or +10m from now"
    now: Annotated[bool, _ON] = False
    "run once, at once"
    manual: Annotated[bool, _ON] = False
    "run only when asked to"
    zone: str | None = None
    "IANA time zone of --cron (UTC without) and of local times"
    starts_at: str | None = None
    "not before this time"
    ends_at: str | None = None
    "not after this time"
    max_runs: int | None = None
    "at most so many runs"
    jitter: str | None = None
    "spread the runs over so long after their times"
    param: Annotated[tuple[str, ...], _MANY] = ()
    "K=V given to the task; V as JSON where it is JSON; repeatable"
    priority: Literal[1, 2, 3] | None = None
    "1 goes before 2 goes before 3"
    retries: int | None = None
    "how often to try again after a failure"
    retry_delay: str | None = None
    "how long to wait before the first retry"
    timeout: str | None = None
    "how long a run may take"
    catchup: Literal["latest", "all", "none"] | None = None
    "which of the runs missed in an outage to make up for"
    overlap: Literal["allow", "skip", "queue"] | None = None
    "what to do when the run before has not ended"
    tag: Annotated[tuple[str, ...], _MANY] = ()
    "K=V to find the job by; repeatable"


def body_of(definition: Definition, *, now_ms: int) -> Json:
    """Return the fields of a request that the options name, and no others."""
    body: Json = {}
    trigger = trigger_of(definition, now_ms=now_ms)
    if trigger is not None:
        body["trigger"] = trigger
    retries = {"max": definition.retries, "delay": definition.retry_delay}
    given: Json = {
        "name": definition.name,
        "params": parse_params(definition.param),
        "priority": None if definition.priority is None else f"P{definition.priority}",
        "retries": {key: value for key, value in retries.items() if value is not None},
        "timeout": definition.timeout,
        "catchup": {"mode": definition.catchup} if definition.catchup else None,
        "overlap": definition.overlap,
        "tags": parse_pairs(definition.tag, "--tag"),
    }
    body.update({key: value for key, value in given.items() if value is not None and value != {}})
    return body


def trigger_of(definition: Definition, *, now_ms: int) -> Json | None:
    """Return the trigger that the options mean, None without any; more than one is refused."""
    given = {
        "--cron": definition.cron,
        "--every": definition.every,
        "--at": definition.at,
        "--now": definition.now or None,
        "--manual": definition.manual or None,
    }
    chosen = [option for option, value in given.items() if value is not None]
    if len(chosen) > 1:
        raise InvalidInput(
            f"{' and '.join(chosen)} exclude each other",
            code="usage.trigger",
            pointer=chosen[1],
            hint=f"give one of {_TRIGGERS}",
        )
    bounds = _bounds(definition, now_ms=now_ms)
    if bounds and chosen not in (["--cron"], ["--every"]):
        raise InvalidInput(
            f"{', '.join(bounds)} only go with a recurring trigger",
            code="usage.trigger",
            pointer=f"--{next(iter(bounds)).replace('_', '-')}",
            hint="give --cron or --every as well",
        )
    if not chosen:
        return None
    return {**_core(chosen[0], definition, now_ms=now_ms), **bounds}


def require_trigger(body: Json) -> None:
    """Refuse a new job that does not say when it runs."""
    if "trigger" not in body:
        raise InvalidInput("it does not say when to run", code="usage.trigger", hint=f"give one of {_TRIGGERS}")


def _core(option: str, definition: Definition, *, now_ms: int) -> Json:
    if option == "--cron":
        zone = {"zone": definition.zone} if definition.zone else {}
        return {"kind": "cron", "schedule": definition.cron, **zone}
    if option == "--every":
        return {"kind": "interval", "every": definition.every}
    if option == "--at":
        at_ms = parse_time(str(definition.at), "--at", now_ms=now_ms, zone=definition.zone)
        return {"kind": "once", "at": rfc3339(at_ms)}
    return {"kind": option.removeprefix("--")}


def _bounds(definition: Definition, *, now_ms: int) -> Json:
    bounds: Json = {}
    for field, text in (("starts_at", definition.starts_at), ("ends_at", definition.ends_at)):
        if text is not None:
            option = f"--{field.replace('_', '-')}"
            bounds[field] = rfc3339(parse_time(text, option, now_ms=now_ms, zone=definition.zone))
    if definition.max_runs is not None:
        bounds["max_runs"] = definition.max_runs
    if definition.jitter is not None:
        bounds["jitter"] = definition.jitter
    return bounds
