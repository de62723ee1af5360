"""The options that describe a job, the same for `submit` and `edit`, and the fields of a request that they mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter

from chronoshard.cli.parsing import parse_pairs, parse_params
from chronoshard.client.transport import Json

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


def fields_of(definition: Definition) -> Json:
    """Return the fields of a request that the options name, and no others; the trigger is apart."""
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
    return {key: value for key, value in given.items() if value is not None and value != {}}
