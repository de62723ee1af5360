"""What can be called remotely, over the flows of REST. Each looks at who calls by itself (invariant 12)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel

from chronoshard.api import edit
from chronoshard.api.auth import Caller
from chronoshard.api.context import Context
from chronoshard.api.create import Origin, create, draft
from chronoshard.api.documents import Document
from chronoshard.api.fields import Body, NameField
from chronoshard.api.finding import find_job
from chronoshard.api.listing import Wanted, Window, job_page, run_page
from chronoshard.api.requests import JobBody
from chronoshard.domain.access import Role
from chronoshard.errors import Forbidden, InvalidInput

MOST = 200
_SUFFIXES = {".py": "python", ".js": "javascript", ".sh": "shell"}
_TASK = re.compile(r"sha256:[0-9a-f]{64}")


class SubmitJob(Body):
    """`schedule`: a cron expression, an ISO time, `@every 5m` or `@now`."""

    user_id: str
    schedule: str
    code_location: str
    name: NameField | None = None
    params: dict[str, Any] = {}
    zone: str = "UTC"
    runtime: str | None = None
    priority: str | int = 2
    idempotency_key: str | None = None


class OfUser(Body):
    user_id: str


class DeleteJob(Body):
    user_id: str
    job_id: str


class OfJob(Body):
    job_id: str


def submit_job(context: Context, caller: Caller, given: SubmitJob) -> str:
    """Create a job and return its id."""
    caller.require(Role.USER)
    owner = _owner(caller, given.user_id)
    body = {
        "trigger": _trigger(given.schedule, given.zone),
        "params": given.params,
        "priority": given.priority,
        **({"name": given.name} if given.name is not None else {}),
        **_code(context, given),
    }
    key = given.idempotency_key
    one = draft(context, JobBody.model_validate(body), Origin(owner, key, given.model_dump_json()))
    return create(context, one, keyed=key is not None).head.job_id


def retrieve_all_jobs(context: Context, caller: Caller, given: OfUser) -> list[Document]:
    """Return all jobs of a user."""
    owner = caller._replace(owner=_owner(caller, given.user_id))
    jobs: list[Document] = []
    cursor: str | None = None
    while True:
        page = job_page(context, owner, Wanted(), cursor, MOST)
        jobs += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return jobs


def delete_job(context: Context, caller: Caller, given: DeleteJob) -> bool:
    """Delete a job; its history stays."""
    caller.require(Role.USER)
    owner = _owner(caller, given.user_id)
    head = find_job(context, caller._replace(owner=owner, role=Role.USER), given.job_id)
    edit.delete(context, head, if_match=None)
    return True


def get_exec_history(context: Context, caller: Caller, given: OfJob) -> list[Document]:
    """Return the newest runs of a job."""
    head = find_job(context, caller, given.job_id, deleted=True)
    items: list[Document] = run_page(context, head, Window(), None, MOST)["items"]
    return items


METHODS: dict[str, tuple[type[BaseModel], Callable[[Context, Caller, Any], Any]]] = {
    "submit_job": (SubmitJob, submit_job),
    "retrieve_all_jobs": (OfUser, retrieve_all_jobs),
    "delete_job": (DeleteJob, delete_job),
    "get_exec_history": (OfJob, get_exec_history),
}


def _owner(caller: Caller, user_id: str) -> str:
    if not user_id or not caller.sees(user_id):
        raise Forbidden("`user_id` is not the owner of this token", code="auth.owner", pointer="/user_id")
    return user_id


def _trigger(schedule: str, zone: str) -> Document:
    text = schedule.strip()
    if text == "@now":
        return {"kind": "now"}
    if text.startswith("@every "):
        return {"kind": "interval", "every": text.removeprefix("@every ").strip()}
    if re.match(r"\d{4}-\d\d-\d\dT", text):
        return {"kind": "once", "at": text}
    return {"kind": "cron", "schedule": text, "zone": zone}


def _code(context: Context, given: SubmitJob) -> Document:
    location = given.code_location
    if _TASK.fullmatch(location):
        return {"task_id": location}
    parts = urlsplit(location)
    if parts.scheme != "file":
        raise InvalidInput(
            "this server does not read code from there",
            code="code_location.refused",
            pointer="/code_location",
            hint="upload it by POST /api/v1/tasks and give its id",
        )
    path = Path(unquote(parts.path)).resolve()
    roots = [Path(root).resolve() for root in context.settings.http_file_roots]
    if parts.netloc not in ("", "localhost") or not any(path.is_relative_to(root) for root in roots):
        raise InvalidInput(
            "this server may not read that file", code="code_location.refused", pointer="/code_location"
        )
    runtime = given.runtime or _SUFFIXES.get(path.suffix)
    if runtime is None:
        raise InvalidInput("give the runtime of this file", code="task.runtime", pointer="/runtime")
    try:
        if path.stat().st_size > context.settings.max_source:
            raise InvalidInput("the file is too large", code="limit.source", pointer="/code_location")
        source = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"the file cannot be read: {type(error).__name__}",
            code="code_location.unreadable",
            pointer="/code_location",
        ) from error
    return {"task": {"runtime": runtime, "source": source}}
