"""The trigger that options mean: of a new job, or of one that has a trigger already and keeps what is not named."""

from __future__ import annotations

from chronoshard.cli.definition import Definition
from chronoshard.cli.parsing import parse_time
from chronoshard.cli.words import rfc3339
from chronoshard.client.transport import Json
from chronoshard.errors import InvalidInput

_TRIGGERS = "--cron, --every, --at, --now or --manual"
_RECURRING = ("cron", "interval")


def new_trigger(definition: Definition, *, now_ms: int) -> Json:
    """Return the trigger of a new job, which must say when it runs."""
    chosen = _chosen(definition, now_ms=now_ms)
    if chosen is None:
        raise InvalidInput("it does not say when to run", code="usage.trigger", hint=f"give one of {_TRIGGERS}")
    return _with_rest(chosen, definition, now_ms=now_ms)


def edited_trigger(definition: Definition, current: Json, *, now_ms: int) -> Json | None:
    """Return what becomes of a job's trigger, None where no option is about it.

    Another expression keeps the zone and the bounds: what was not named stays.
    """
    chosen = _chosen(definition, now_ms=now_ms)
    if chosen is None and not _has_rest(definition):
        return None
    if chosen is None or (chosen["kind"] == current["kind"] and chosen["kind"] in _RECURRING):
        chosen = {**current, **(chosen or {})}
    return _with_rest(chosen, definition, now_ms=now_ms)


def _chosen(definition: Definition, *, now_ms: int) -> Json | None:
    """Return the trigger that one of the options stands for; refuse more than one of them."""
    given: dict[str, Json] = {}
    if definition.cron is not None:
        given["--cron"] = {"kind": "cron", "schedule": definition.cron}
    if definition.every is not None:
        given["--every"] = {"kind": "interval", "every": definition.every}
    if definition.at is not None:
        at_ms = parse_time(definition.at, "--at", now_ms=now_ms, zone=definition.zone)
        given["--at"] = {"kind": "once", "at": rfc3339(at_ms)}
    if definition.now:
        given["--now"] = {"kind": "now"}
    if definition.manual:
        given["--manual"] = {"kind": "manual"}
    if len(given) > 1:
        raise InvalidInput(
            f"{' and '.join(given)} exclude each other",
            code="usage.trigger",
            pointer=list(given)[1],
            hint=f"give one of {_TRIGGERS}",
        )
    return next(iter(given.values()), None)


def _with_rest(trigger: Json, definition: Definition, *, now_ms: int) -> Json:
    """Return the trigger with the zone and the bounds that are named; refuse those that it cannot have."""
    bounds = _bounds(definition, now_ms=now_ms)
    if bounds and trigger["kind"] not in _RECURRING:
        raise InvalidInput(
            f"{', '.join(bounds)} only go with a recurring trigger",
            code="usage.trigger",
            pointer=f"--{next(iter(bounds)).replace('_', '-')}",
            hint="give --cron or --every as well",
        )
    local_times = (definition.at, definition.starts_at, definition.ends_at)
    if definition.zone is not None and trigger["kind"] != "cron" and local_times == (None, None, None):
        raise InvalidInput(
            "there is nothing that a zone would change", code="usage.zone", pointer="--zone", hint="leave it out"
        )
    zone = {"zone": definition.zone} if definition.zone is not None and trigger["kind"] == "cron" else {}
    return {**trigger, **zone, **bounds}


def _has_rest(definition: Definition) -> bool:
    named = (definition.zone, definition.starts_at, definition.ends_at, definition.max_runs, definition.jitter)
    return any(value is not None for value in named)


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
