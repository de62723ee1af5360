"""From a request to a job: the head and the spec that it means, or which field cannot be.

Pure but for the look at the code's runtime: whoever calls with the same body, id and time gets the same job.
"""

from __future__ import annotations

from typing import Any

import msgspec

from chronoshard.api.requests import (
    CatchupBody,
    CronBody,
    DstBody,
    IntervalBody,
    JobBody,
    NowBody,
    OnceBody,
    RetriesBody,
    TriggerBody,
)
from chronoshard.api.tasks import Code
from chronoshard.api.text import duration
from chronoshard.domain.catchup import Catchup
from chronoshard.domain.job import Head, Spec, Status, first_entry
from chronoshard.domain.retry import RetryPolicy
from chronoshard.domain.trigger import Cron, Dst, Interval, Manual, Now, Once, Trigger, validated
from chronoshard.errors import InvalidInput

MIN_TIMEOUT_MS = 1_000
MAX_TIMEOUT_MS = 5 * 86_400_000  # the row of a running attempt must outlive it in the timetable
MAX_RETRY_DELAY_MS = 86_400_000
MAX_DEPTH = 64  # of params: deep enough for people, shallow enough for every parser


def new_job(
    body: JobBody, code: Code, *, job_id: str, owner: str, now_ms: int, body_hash: str, max_params: int
) -> tuple[Head, Spec]:
    """Return the first generation of a job; raise InvalidInput."""
    given = trigger_of(body.trigger, now_ms=now_ms)
    head = Head(
        job_id=job_id,
        owner=owner,
        generation=1,
        status=Status.SCHEDULED,
        timeline=(first_entry(validated(given, now_ms=now_ms, job_id=job_id), now_ms=now_ms),),
        created_ms=now_ms,
        updated_ms=now_ms,
        name=body.name,
        runtime=code.runtime,
        priority=body.priority,
        catchup=catchup_of(body.catchup),
        overlap=body.overlap,
        dst=dst_of(body.dst),
        tags=dict(body.tags),
        body_hash=body_hash,
    )
    spec = Spec(
        job_id=job_id,
        generation=1,
        trigger=given,
        runtime=code.runtime,
        task_id=code.task_id,
        http=code.http,
        params=params_of(body.params, max_params),
        retries=retries_of(body.retries),
        timeout_ms=timeout_of(body.timeout),
    )
    return head, spec


def trigger_of(body: TriggerBody, *, now_ms: int, from_ms: int | None = None) -> Trigger:
    """Return the trigger as given; an interval without a start begins one interval after `from_ms` (now)."""
    match body:
        case CronBody():
            return Cron(body.schedule, body.zone, body.starts_at, body.ends_at, body.max_runs, body.jitter)
        case IntervalBody():
            begin_ms = now_ms if from_ms is None else from_ms
            start_ms = body.start if body.start is not None else begin_ms + body.every
            return Interval(body.every, start_ms, body.starts_at, body.ends_at, body.max_runs, body.jitter)
        case OnceBody():
            return Once(body.at)
        case NowBody():
            return Now(now_ms)
        case _:
            return Manual()


def params_of(params: dict[str, Any], limit: int) -> bytes:
    """Return params as they are kept: a JSON object as text, within the limit."""
    try:
        text = msgspec.json.encode(params)
    except RecursionError as error:
        raise _invalid("params.depth", "/params", "params are nested too deeply") from error
    if len(text) > limit:
        raise _invalid("limit.params", "/params", f"params have {len(text):,} bytes, at most {limit:,} are taken")
    _check_params(params, "/params", 0)
    return text


def timeout_of(timeout_ms: int) -> int:
    if not MIN_TIMEOUT_MS <= timeout_ms <= MAX_TIMEOUT_MS:
        longest = duration(MAX_TIMEOUT_MS)
        raise _invalid("timeout.range", "/timeout", f"a timeout is at least 1s and at most {longest}")
    return timeout_ms


def retries_of(body: RetriesBody, base: RetryPolicy | None = None) -> RetryPolicy:
    """Return the policy of a body; what a change does not name stays as in `base`."""
    given = {"max": body.max, "delay_ms": body.delay, "backoff": body.backoff, "max_delay_ms": body.max_delay}
    policy = RetryPolicy(**_named(body, given, {"delay": "delay_ms", "max_delay": "max_delay_ms"}, base))
    for field, delay_ms in (("delay", policy.delay_ms), ("max_delay", policy.max_delay_ms)):
        if delay_ms > MAX_RETRY_DELAY_MS:
            raise _invalid("retries.delay", f"/retries/{field}", "a retry waits at most a day")
    return policy


def catchup_of(body: CatchupBody, base: Catchup | None = None) -> Catchup:
    given = {"mode": body.mode, "window_ms": body.window}
    return Catchup(**_named(body, given, {"window": "window_ms"}, base))


def dst_of(body: DstBody, base: Dst | None = None) -> Dst:
    return Dst(**_named(body, {"gap": body.gap, "overlap": body.overlap}, {}, base))


def _named(
    body: RetriesBody | CatchupBody | DstBody,
    given: dict[str, Any],
    renamed: dict[str, str],
    base: msgspec.Struct | None,
) -> dict[str, Any]:
    if base is None:
        return given
    named = {renamed.get(field, field) for field in body.model_fields_set}
    return {field: value if field in named else getattr(base, field) for field, value in given.items()}


def _check_params(value: object, where: str, depth: int) -> None:
    """Refuse what no process can be given: a NUL in its environment, structures without bottom."""
    if depth > MAX_DEPTH:
        raise _invalid("params.depth", where[:200], "params are nested too deeply")
    match value:
        case str():
            if "\0" in value:
                raise _invalid("params.nul", where, "a text in params cannot contain NUL")
        case dict():
            for key, entry in value.items():
                _check_params(key, where, depth)
                escaped = str(key).replace("~", "~0").replace("/", "~1")
                _check_params(entry, f"{where}/{escaped}", depth + 1)
        case list():
            for index, entry in enumerate(value):
                _check_params(entry, f"{where}/{index}", depth + 1)


def _invalid(code: str, pointer: str, what: str) -> InvalidInput:
    return InvalidInput(what, code=code, pointer=pointer)
