"""Uploading code, as a form with a file or as JSON."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from chronoshard.api import tasks
from chronoshard.api.answers import answer, context_of
from chronoshard.api.idempotency import Route
from chronoshard.api.requests import TaskBody
from chronoshard.api.tasks import Stored
from chronoshard.errors import InvalidInput, NotFound

router = APIRouter(prefix="/api/v1/tasks", tags=["tasks"], route_class=Route, strict_content_type=False)

_FORM = {
    "type": "object",
    "required": ["file", "runtime"],
    "properties": {"file": {"type": "string", "format": "binary"}, "runtime": {"enum": list(tasks.RUNTIMES)}},
}
_BODIES = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": TaskBody.model_json_schema()},
            "multipart/form-data": {"schema": _FORM},
        },
    }
}


@router.post("", status_code=201, openapi_extra=_BODIES)
async def upload_task(request: Request) -> Response:
    """Store code; the same content again is 200 with the same id."""
    content_type = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if content_type == "multipart/form-data":
        runtime, source = await _form(request)
    elif content_type == "application/json":
        try:
            body = TaskBody.model_validate(await request.json())
        except ValidationError as error:
            raise RequestValidationError([{**e, "loc": ("body", *e["loc"])} for e in error.errors()]) from error
        runtime, source = body.runtime, body.source.encode()
    else:
        raise HTTPException(415, "send code as multipart/form-data or as application/json")
    context = context_of(request)
    code = tasks.checked(context, runtime, source, pointer="")
    stored = await run_in_threadpool(tasks.store, context, code)
    return _answer(stored, 201 if stored.is_new else 200)


@router.get("/{task_id}")
def get_task(request: Request, task_id: str) -> Response:
    """Return what is known of stored code: not the code itself."""
    stored = tasks.find(context_of(request), task_id)
    if stored is None:
        raise NotFound(f"there is no task {task_id[:80]!r}", code="task.not_found")
    return _answer(stored, 200)


async def _form(request: Request) -> tuple[str, bytes]:
    async with request.form(max_files=1, max_fields=1) as form:
        unknown = sorted(set(form) - {"file", "runtime"})
        if unknown:
            raise InvalidInput("there is no such field", code="field.unknown", pointer=f"/{unknown[0][:80]}")
        file, runtime = form.get("file"), form.get("runtime")
        if not isinstance(file, UploadFile):
            raise InvalidInput("this field is needed: the code as a file", code="field.missing", pointer="/file")
        if not isinstance(runtime, str):
            raise InvalidInput("this field is needed", code="field.missing", pointer="/runtime")
        return runtime, await file.read()


def _answer(stored: Stored, status: int) -> Response:
    document = stored._asdict()
    del document["is_new"]
    return answer(document, status)
