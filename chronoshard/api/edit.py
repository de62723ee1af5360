"""Changing jobs: edit, pause, resume, delete. Each is one compare-and-set of the head on its generation.

After the answer nothing of the old definition is claimed and started (invariant 7): the check after the claim reads
the head that was written here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from chronoshard.api import tasks
from chronoshard.api.context import Context
from chronoshard.api.create import Job, spec_of, take_name
from chronoshard.api.definition import catchup_of, dst_of, params_of, retries_of, timeout_of, trigger_of
from chronoshard.api.requests import IntervalBody, JobPatch
from chronoshard.api.tasks import Code
from chronoshard.batches import UNKNOWN_REPEATS
from chronoshard.completion import keep_name
from chronoshard.domain.identity import minute_of
from chronoshard.domain.job import EDIT_DELAY_MS, Head, Intent, Spec, Status, append_entry
from chronoshard.domain.trigger import Cron, Interval, Trigger, validated
from chronoshard.errors import Conflict, InvalidInput, NotFound, OutcomeUnknown, StaleVersion
from chronoshard.failpoints import failpoint

TRIES = 10  # other edits of the same job at the same time that one edit gives way to


class Edited(NamedTuple):
    """What a job becomes. `spec` None: its definition stays, only the head changes."""

    head: Head
    spec: Spec | None = None


Change = Callable[[Head, Spec, int], Edited | None]  # the job now, and the time; None: it is so already


def patch(context: Context, head: Head, body: JobPatch, *, if_match: int | None) -> Job:
    """Change what `body` names; raise StaleVersion, Conflict, InvalidInput."""
    code = tasks.code_of(context, body) if body.code_fields else None
    limit = context.settings.max_params
    if code is not None:
        tasks.keep(context, code)
    return _change(context, head, lambda h, s, now_ms: _patched(h, s, body, code, now_ms, limit), if_match)


def pause(context: Context, head: Head, reason: str | None) -> Job:
    return _change(context, head, lambda h, s, now_ms: _paused(h, s, reason, now_ms), None)


def resume(context: Context, head: Head) -> Job:
    return _change(context, head, _resumed, None)


def delete(context: Context, head: Head, *, if_match: int | None) -> Job:
    """Delete a job; its name is free and its history stays."""
    return _change(context, head, _deleted, if_match)


def _change(context: Context, head: Head, change: Change, if_match: int | None) -> Job:
    jobs = context.store.jobs
    for _ in range(TRIES):
        if if_match is not None and if_match != head.generation:
            raise StaleVersion(
                f"the job is at generation {head.generation}, the request is about {if_match}",
                hint="read it again and repeat the change on what it is now",
            )
        now_ms = context.clock.now_ms()
        spec = spec_of(context, head)
        edited = change(head, spec, now_ms)
        if edited is None:
            return Job(head, spec)
        new_spec = edited.spec or msgspec.structs.replace(spec, generation=edited.head.generation)
        intent = _intent(head, edited.head, now_ms)
        if intent is not None:
            jobs.intend([intent])
            failpoint("api.edit_intended")
        if edited.head.name is not None and edited.head.name != head.name:
            take_name(context, head.owner, edited.head.name, head.job_id)
        if _replace(context, edited.head, new_spec, head.generation):
            failpoint("api.edited")
            _follow_up(context, head, edited.head, intent)
            return Job(edited.head, new_spec)
        _give_back(context, head, edited.head)
        head = _again(context, head.job_id)
    raise Conflict("the job is being changed by many at once", hint="try again")


def _replace(context: Context, head: Head, spec: Spec, expected: int) -> bool:
    """Repeat a write whose answer was lost as it was: a fresh edit would refuse its own first try."""
    for _ in range(UNKNOWN_REPEATS):
        try:
            return context.store.jobs.change(head, spec, expected_generation=expected)
        except OutcomeUnknown as error:
            unknown = error
    raise unknown


def _intent(old: Head, new: Head, now_ms: int) -> Intent | None:
    """Return what others need to finish this edit; None when the compare-and-set is all of it."""
    dropped = new.status is Status.DELETED and new.name is not None
    if new.name == old.name and not dropped and not _begins(old, new):
        return None
    return Intent(
        minute=minute_of(now_ms),
        job_id=new.job_id,
        owner=new.owner,
        generation=new.generation,
        name=new.name,
        old_name=old.name,
    )


def _begins(old: Head, new: Head) -> bool:
    """Say whether the edit brings a trigger whose first rows have to be made."""
    return new.timeline != old.timeline and new.trigger is not None


def _follow_up(context: Context, old: Head, new: Head, intent: Intent | None) -> None:
    jobs = context.store.jobs
    if old.name is not None and (new.name != old.name or new.status is Status.DELETED):
        jobs.drop_name(old.owner, old.name, old.job_id)
    if new.name != old.name:
        keep_name(jobs, new)
    if _begins(old, new):
        context.planner.begin([new])
    if intent is not None:
        context.memory.done([intent])


def _give_back(context: Context, old: Head, wanted: Head) -> None:
    """Another edit was faster: free the name that this one took."""
    if wanted.name is not None and wanted.name != old.name:
        context.store.jobs.drop_name(old.owner, wanted.name, old.job_id)


def _again(context: Context, job_id: str) -> Head:
    head = context.store.jobs.heads([job_id]).get(job_id)
    if head is None or head.status is Status.DELETED:
        raise NotFound(f"the job {job_id} has been deleted", code="job.not_found")
    return head


def _patched(head: Head, spec: Spec, body: JobPatch, code: Code | None, now_ms: int, limit: int) -> Edited | None:
    named = body.model_fields_set
    generation = head.generation + 1
    given = _new_trigger(body, spec.trigger, now_ms) if "trigger" in named else None
    dst = dst_of(body.dst, head.dst) if "dst" in named else head.dst
    kept = validated(given, now_ms=now_ms, job_id=head.job_id) if given is not None else head.trigger
    timeline = head.timeline
    if head.status is Status.SCHEDULED and (given is not None or dst != head.dst):
        timeline = append_entry(timeline, kept, generation=generation, now_ms=now_ms)
    new_head = msgspec.structs.replace(
        head,
        timeline=timeline,
        name=body.name if "name" in named else head.name,
        runtime=code.runtime if code is not None else head.runtime,
        priority=body.priority if "priority" in named else head.priority,
        catchup=catchup_of(body.catchup, head.catchup) if "catchup" in named else head.catchup,
        overlap=body.overlap if "overlap" in named else head.overlap,
        dst=dst,
        tags=dict(body.tags) if "tags" in named else head.tags,
    )
    new_spec = msgspec.structs.replace(
        spec,
        trigger=given or spec.trigger,
        runtime=code.runtime if code is not None else spec.runtime,
        task_id=code.task_id if code is not None else spec.task_id,
        http=code.http if code is not None else spec.http,
        params=params_of(body.params, limit) if "params" in named else spec.params,
        retries=retries_of(body.retries, spec.retries) if "retries" in named else spec.retries,
        timeout_ms=timeout_of(body.timeout) if "timeout" in named else spec.timeout_ms,
    )
    if new_head == head and new_spec == spec:
        return None
    return Edited(
        msgspec.structs.replace(new_head, generation=generation, updated_ms=now_ms),
        msgspec.structs.replace(new_spec, generation=generation),
    )


def _new_trigger(body: JobPatch, old: Trigger, now_ms: int) -> Trigger | None:
    """Return the trigger that a change brings; None when it is the one that is there.

    An interval without a start that is otherwise the same keeps the anchor it has.
    """
    new = trigger_of(body.trigger, now_ms=now_ms, from_ms=now_ms + EDIT_DELAY_MS)
    if isinstance(body.trigger, IntervalBody) and body.trigger.start is None and isinstance(old, Interval):
        assert isinstance(new, Interval)
        if msgspec.structs.replace(new, start_ms=old.start_ms) == old:
            return None
    return None if new == old else new


def _paused(head: Head, _: Spec, reason: str | None, now_ms: int) -> Edited | None:
    if head.status is Status.DISABLED and head.reason == reason:
        return None
    if head.status is Status.DISABLED:
        return Edited(_next(head, now_ms, reason=reason))
    timeline = append_entry(head.timeline, None, generation=head.generation + 1, now_ms=now_ms)
    return Edited(_next(head, now_ms, status=Status.DISABLED, reason=reason, timeline=timeline))


def _resumed(head: Head, spec: Spec, now_ms: int) -> Edited | None:
    if head.status is Status.SCHEDULED:
        return None
    timeline = append_entry(
        head.timeline, _runnable(spec.trigger, head.job_id, now_ms), generation=head.generation + 1, now_ms=now_ms
    )
    return Edited(_next(head, now_ms, status=Status.SCHEDULED, reason=None, timeline=timeline))


def _deleted(head: Head, _: Spec, now_ms: int) -> Edited:
    timeline = append_entry(head.timeline, None, generation=head.generation + 1, now_ms=now_ms)
    return Edited(_next(head, now_ms, status=Status.DELETED, timeline=timeline))


def _runnable(trigger: Trigger, job_id: str, now_ms: int) -> Trigger:
    """Return a trigger as the timeline has it; one that has no occurrence left stays as it is."""
    if not isinstance(trigger, Cron):
        return trigger
    try:
        return validated(trigger, now_ms=now_ms, job_id=job_id)
    except InvalidInput:
        return trigger


def _next(head: Head, now_ms: int, **changes: object) -> Head:
    return msgspec.structs.replace(head, generation=head.generation + 1, updated_ms=now_ms, **changes)
