"""The paths of jobs. Each reads what was asked for, calls one flow, and writes down its answer."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from chronoshard.api import edit
from chronoshard.api.answers import answer, body_hash_of, caller_of, context_of, idempotency_key_of
from chronoshard.api.batch import create_batch
from chronoshard.api.context import Context
from chronoshard.api.create import Job, Origin, check_name, create, draft, spec_of
from chronoshard.api.documents import Document, job_document
from chronoshard.api.fields import TimeField
from chronoshard.api.finding import find_job, running_runs
from chronoshard.api.idempotency import Route
from chronoshard.api.listing import Wanted, Window, job_page, run_page
from chronoshard.api.pagination import DEFAULT_LIMIT, MAX_LIMIT
from chronoshard.api.requests import BatchBody, JobBody, JobPatch, RunBody, StatusBody
from chronoshard.api.run_now import run_now
from chronoshard.api.statuses import job_status, statuses
from chronoshard.domain.job import Head
from chronoshard.errors import InvalidInput, StaleVersion

router = APIRouter(prefix="/api/v1/jobs", tags=["jobs"], route_class=Route, strict_content_type=False)

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT)]
JobStatus = Literal["scheduled", "pending", "running", "disabled", "finished"]
RunState = Literal[
    "scheduled",
    "pending",
    "running",
    "retrying",
    "succeeded",
    "failed",
    "timed_out",
    "lost",
    "cancelled",
    "skipped",
]
_ETAG = re.compile(r"(?:W/)?\"(\d{1,18})\"")


@router.post("", status_code=201)
def create_job(request: Request, body: JobBody) -> Response:
    """Create a job; with `validate_only` say what it would be (200)."""
    context, key = context_of(request), idempotency_key_of(request)
    one = draft(context, body, Origin(caller_of(request).owner, key, body_hash_of(request)))
    now_ms = context.clock.now_ms()
    if body.validate_only:
        check_name(context, one.head.owner, one.head.name)
        document = job_document(one.head, one.spec, now_ms=now_ms)
        return answer({name: value for name, value in document.items() if name not in ("job_id", "run_id")})
    job = create(context, one, keyed=key is not None)
    location = {"Location": f"/api/v1/jobs/{job.head.job_id}"}
    return answer(job_document(*job, now_ms=now_ms), 201, {**_etag(job.head), **location})


@router.post("/batch")
def create_jobs(request: Request, body: BatchBody) -> Response:
    """Create up to 1,000 jobs; each is all or nothing, and the results are in their order."""
    results = create_batch(
        context_of(request), caller_of(request).owner, body.jobs, key=idempotency_key_of(request)
    )
    return answer({"results": results})


@router.get("")
def list_jobs(
    request: Request,
    status: JobStatus | None = None,
    tag: Annotated[list[str] | None, Query()] = None,
    name: str | None = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: str | None = None,
) -> Response:
    """List the caller's jobs. `tag=KEY:VALUE`, repeatable: all of them must be there."""
    wanted = Wanted(status, name, _tags(tag or []))
    return answer(job_page(context_of(request), caller_of(request), wanted, cursor, limit))


@router.get("/{job_id}")
def get_job(request: Request, job_id: str) -> Response:
    """Return a job; its ETag is what If-Match takes."""
    context = context_of(request)
    head = find_job(context, caller_of(request), job_id)
    status = statuses(context, [head])[job_id]
    document = job_document(head, spec_of(context, head), now_ms=context.clock.now_ms(), status=status)
    return answer(document, headers=_etag(head))


@router.patch("/{job_id}")
def change_job(request: Request, job_id: str, body: JobPatch) -> Response:
    """Change what the body names; a new trigger holds from 5 s after the answer."""
    context = context_of(request)
    head = find_job(context, caller_of(request), job_id)
    return _changed(context, edit.patch(context, head, body, if_match=_if_match(request)))


@router.delete("/{job_id}")
def delete_job(request: Request, job_id: str) -> Response:
    """Delete a job and say which of its runs still run; its history stays."""
    context = context_of(request)
    head = find_job(context, caller_of(request), job_id)
    job = edit.delete(context, head, if_match=_if_match(request))
    running = [run.id for run in running_runs(context.store, job_id)]
    return answer({"job_id": job_id, "status": job.head.status.value, "running": running})


@router.get("/{job_id}/status")
def get_status(request: Request, job_id: str) -> Response:
    """Say what a job is doing."""
    context = context_of(request)
    return answer(job_status(context, find_job(context, caller_of(request), job_id)))


@router.put("/{job_id}/status")
def put_status(request: Request, job_id: str, body: StatusBody) -> Response:
    """Pause (`disabled`) or resume (`scheduled`) a job; the answer says what still runs."""
    context = context_of(request)
    head = find_job(context, caller_of(request), job_id)
    paused = body.status == "disabled"
    job = edit.pause(context, head, body.reason) if paused else edit.resume(context, head)
    return _changed(context, job, running=[run.id for run in running_runs(context.store, job_id)])


@router.post("/{job_id}/runs", status_code=202)
def post_run(request: Request, job_id: str, body: RunBody | None = None) -> Response:
    """Run a job now, whatever its schedule and status say."""
    context, caller, key = context_of(request), caller_of(request), idempotency_key_of(request)
    head = find_job(context, caller, job_id)
    run = run_now(
        context,
        head,
        body.params if body is not None else {},
        key=None if key is None else f"{caller.owner}\0{key}",
    )
    return answer({"run_id": run.id, "job_id": job_id}, 202, {"Location": f"/api/v1/runs/{run.id}"})


@router.get("/{job_id}/runs")
def list_runs(
    request: Request,
    job_id: str,
    state: RunState | None = None,
    from_: Annotated[TimeField | None, Query(alias="from")] = None,
    to: TimeField | None = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: str | None = None,
) -> Response:
    """Return a job's runs, newest first; those of a deleted job too."""
    context = context_of(request)
    head = find_job(context, caller_of(request), job_id, deleted=True)
    window = Window(state=state)
    window = window if from_ is None else window._replace(from_ms=from_)
    window = window if to is None else window._replace(to_ms=to)
    return answer(run_page(context, head, window, cursor, limit))


def _changed(context: Context, job: Job, **more: object) -> Response:
    status = statuses(context, [job.head])[job.head.job_id]
    document: Document = job_document(*job, now_ms=context.clock.now_ms(), status=status)
    return answer({**document, **more}, headers=_etag(job.head))


def _etag(head: Head) -> dict[str, str]:
    return {"ETag": f'"{head.generation}"'}


def _if_match(request: Request) -> int | None:
    """Return the generation that a request is about; None: whichever there is."""
    given = request.headers.get("if-match")
    if given is None or given.strip() == "*":
        return None
    match = _ETAG.fullmatch(given.strip())
    if match is None:
        raise StaleVersion(
            "If-Match is no ETag of this job", hint="send the ETag as it was given, quotes included"
        )
    return int(match[1])


def _tags(given: list[str]) -> dict[str, str]:
    tags: dict[str, str] = {}
    for text in given:
        key, colon, value = text.partition(":")
        if not colon or not key:
            raise InvalidInput(
                f"{text[:80]!r} is no tag", code="tag.invalid", pointer="/tag", hint="write tag=KEY:VALUE"
            )
        tags[key] = value
    return tags
