"""Making jobs: everything is checked first, then an intent, the names, the heads and specs, the first rows.

Nothing is answered before the rows are durable (invariant 1). Whatever fails after the intent is finished or taken
back from it; under an idempotency key the same request makes the same job however often it comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from chronoshard.api import tasks
from chronoshard.api.context import Context
from chronoshard.api.definition import new_job
from chronoshard.api.requests import JobBody
from chronoshard.api.tasks import Code
from chronoshard.completion import keep_name
from chronoshard.domain.identity import job_id_for, minute_of, new_job_id
from chronoshard.domain.job import Head, Intent, Spec, Status
from chronoshard.errors import ChronoshardError, Conflict
from chronoshard.failpoints import failpoint


class Job(NamedTuple):
    head: Head
    spec: Spec


class Draft(NamedTuple):
    """A job that may be made: nothing of it is stored yet."""

    head: Head
    spec: Spec
    code: Code

    @property
    def intent(self) -> Intent:
        head = self.head
        minute = minute_of(head.created_ms)
        return Intent(minute=minute, job_id=head.job_id, owner=head.owner, generation=1, name=head.name)


class Origin(NamedTuple):
    """Who asks. `key` is the idempotency key and `body_hash` what came under it; without a key a job is fresh."""

    owner: str
    key: str | None = None
    body_hash: str = ""


def draft(context: Context, body: JobBody, origin: Origin) -> Draft:
    """Return the job that a body means; raise InvalidInput, TooLarge. Nothing is stored."""
    job_id = new_job_id() if origin.key is None else job_id_for(origin.owner, origin.key)
    code = tasks.code_of(context, body)
    head, spec = new_job(
        body,
        code,
        job_id=job_id,
        owner=origin.owner,
        now_ms=context.clock.now_ms(),
        body_hash=origin.body_hash if origin.key is not None else "",
        max_params=context.settings.max_params,
    )
    return Draft(head, spec, code)


def create(context: Context, one: Draft, *, keyed: bool) -> Job:
    """Make one job, durable on return; under a key the one that is there already. Raises Conflict."""
    jobs = context.store.jobs
    tasks.keep(context, one.code)
    jobs.intend([one.intent])
    failpoint("api.intended")
    try:
        _take_name(context, one.head)
        if keyed:
            head = jobs.create(one.head, one.spec)
            _check_same(context, head, one)
        else:
            head = one.head
            jobs.insert([(one.head, one.spec)])
        failpoint("api.inserted")
        for error in _begin(context, [head]).values():
            raise error
    except Conflict:
        context.memory.done([one.intent])
        raise
    context.memory.done([one.intent])
    return Job(head, one.spec if head is one.head else spec_of(context, head))


def create_many(context: Context, drafts: Sequence[Draft]) -> list[Job | ChronoshardError]:
    """Make each job or say why not, in order. Heads that are there already are left as they are."""
    jobs = context.store.jobs
    for one in drafts:
        tasks.keep(context, one.code)
    jobs.intend([one.intent for one in drafts])
    failpoint("api.intended")
    refused: dict[str, ChronoshardError] = {}
    for one in drafts:
        try:
            _take_name(context, one.head)
        except Conflict as error:
            refused[one.head.job_id] = error
    accepted = [one.head for one in drafts if one.head.job_id not in refused]
    jobs.insert([(one.head, one.spec) for one in drafts if one.head.job_id not in refused])
    failpoint("api.inserted")
    refused.update(_begin(context, accepted))
    context.memory.done([one.intent for one in drafts])
    return [refused.get(one.head.job_id) or Job(one.head, one.spec) for one in drafts]


def check_name(context: Context, owner: str, name: str | None) -> None:
    """Raise Conflict when a name is taken, without taking it."""
    holder = context.store.jobs.by_name(owner, name) if name is not None else None
    if holder is not None and name is not None and not _is_left_over(context, holder, name):
        raise name_taken(name, holder)


def take_name(context: Context, owner: str, name: str, job_id: str) -> None:
    """Give a name to a job, also one that a deleted or renamed job was not yet freed of; raise Conflict."""
    jobs = context.store.jobs
    holder = jobs.take_name(owner, name, job_id)
    if holder != job_id and _is_left_over(context, holder, name):
        jobs.drop_name(owner, name, holder)
        holder = jobs.take_name(owner, name, job_id)
    if holder != job_id:
        raise name_taken(name, holder)


def name_taken(name: str, holder: str) -> Conflict:
    return Conflict(
        f"you have a job of the name {name!r} already: {holder}",
        code="name.taken",
        pointer="/name",
        hint="choose another name, or change that job",
    )


def spec_of(context: Context, head: Head) -> Spec:
    """Return the spec of a job's present generation."""
    return specs_of(context, [head])[head.job_id]


def specs_of(context: Context, heads: Sequence[Head]) -> dict[str, Spec]:
    """Return the present specs by job id. They never change, so they are remembered."""
    remembered = context.memory.specs
    found = {head.job_id: remembered.get((head.job_id, head.generation)) for head in heads}
    missing = [(head.job_id, head.generation) for head in heads if found[head.job_id] is None]
    if missing:
        for key, spec in context.store.jobs.specs(missing).items():
            remembered.put(key, spec)
            found[key[0]] = spec
    return {job_id: spec for job_id, spec in found.items() if spec is not None}


def _take_name(context: Context, head: Head) -> None:
    if head.name is not None:
        take_name(context, head.owner, head.name, head.job_id)
        failpoint("api.named")


def _is_left_over(context: Context, holder: str, name: str) -> bool:
    """Say whether the job that holds a name has been deleted or renamed: its api died before freeing it."""
    head = context.store.jobs.heads([holder]).get(holder)
    return head is not None and (head.status is Status.DELETED or head.name != name)


def _check_same(context: Context, head: Head, one: Draft) -> None:
    """Refuse a key under which another body made a job, or whose job is gone."""
    same = head.body_hash == one.head.body_hash
    if same and head.status is not Status.DELETED:
        return
    if one.head.name is not None and head.name != one.head.name:
        context.store.jobs.drop_name(head.owner, one.head.name, head.job_id)
    if same:
        raise Conflict("the job that this key made has been deleted", code="idempotency.deleted")
    raise Conflict(
        "this idempotency key came with another request before",
        code="idempotency.reused",
        hint="use a fresh key for each request",
    )


def _begin(context: Context, heads: Sequence[Head]) -> dict[str, Conflict]:
    """Make the first rows, after a last look at the names: whoever took this api for dead has freed them.

    Return, by job id, why a job that lost its name to another one was taken back.
    """
    lost: dict[str, Conflict] = {}
    for head in heads:
        if head.name is not None and (holder := keep_name(context.store.jobs, head)) is not None:
            gone = msgspec.structs.replace(head, generation=head.generation + 1, status=Status.DELETED)
            context.store.jobs.change(gone, None, expected_generation=head.generation)
            lost[head.job_id] = name_taken(head.name, holder)
    ready = [head for head in heads if head.status is Status.SCHEDULED and head.job_id not in lost]
    context.planner.begin(ready)
    return lost
