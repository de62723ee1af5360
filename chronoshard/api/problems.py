"""The one place that turns what went wrong into an answer: application/problem+json of RFC 9457.

A client sees a stable code, the fields to mend and the next step; what nobody foresaw is logged with its trace and
answered as 500 with nothing of the inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import structlog
from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic_core import ErrorDetails, ValidationError
from starlette.exceptions import HTTPException

from chronoshard import errors

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = {429: 1, 503: 2}
MAX_LISTED = 20  # faults named in one answer

STATUS: tuple[tuple[type[errors.ChronoshardError], int], ...] = (
    (errors.InvalidInput, 422),
    (errors.TooLarge, 413),
    (errors.TooMany, 429),
    (errors.Unauthorized, 401),
    (errors.Forbidden, 403),
    (errors.NotFound, 404),
    (errors.Conflict, 409),
    (errors.StaleVersion, 412),
    (errors.Unavailable, 503),
    (errors.TermOver, 503),
    (errors.LinkError, 503),
)
TITLES = {
    400: "The request cannot be read",
    401: "Who are you?",
    403: "Not allowed",
    404: "Not found",
    405: "This path does not take this method",
    409: "Its state forbids it",
    412: "It has changed",
    413: "Too large",
    415: "This kind of content is not taken",
    422: "Something in the request is wrong",
    429: "Too many at once",
    500: "A fault of the server",
    503: "Not available now",
}
_HTTP_CODES = {
    400: "json.malformed",
    404: "path.not_found",
    405: "method.not_allowed",
    413: "limit.size",
    415: "content_type.unsupported",
}
_KINDS = {"missing": "field.missing", "extra_forbidden": "field.unknown", "union_tag_invalid": "trigger.kind"}
_TAGGED = {"trigger"}  # fields whose error locations carry the tag of their union

Problem = dict[str, Any]


def status_of(error: errors.ChronoshardError) -> int:
    return next((status for kind, status in STATUS if isinstance(error, kind)), 500)


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    faults: Sequence[Problem] = (),
    hint: str | None = None,
    request_id: str | None = None,
) -> Problem:
    """Return a problem document."""
    document: Problem = {
        "type": f"urn:chronoshard:problem:{code}",
        "title": TITLES.get(status, "Error"),
        "status": status,
        "detail": detail,
        "code": code,
    }
    if request_id is not None:
        document["request_id"] = request_id
    if hint is not None:
        document["hint"] = hint
    if faults:
        document["errors"] = list(faults)
    return document


def problem_of(error: errors.ChronoshardError, request_id: str | None = None) -> Problem:
    """Return the document for an error that was raised on purpose."""
    fields = error.fields or (((error.pointer, error.detail),) if error.pointer is not None else ())
    faults = [{"pointer": pointer, "detail": detail, "code": error.code} for pointer, detail in fields]
    status = status_of(error)
    return problem(status, error.code, error.detail, faults=faults, hint=error.hint, request_id=request_id)


def invalid_fields(listed: Iterable[ErrorDetails | Mapping[str, Any]], request_id: str | None = None) -> Problem:
    """Return the document for a body whose fields are wrong: each with its JSON pointer."""
    faults = [
        {"pointer": pointer(entry["loc"]), "detail": _said(entry), "code": _kind(str(entry["type"]))}
        for entry in listed
    ]
    first = faults[0]
    where = f" ({len(faults)} faults)" if len(faults) > 1 else ""
    detail = f"{first['pointer'] or 'the body'}: {first['detail']}{where}"
    return problem(422, first["code"], detail, faults=faults[:MAX_LISTED], request_id=request_id)


def invalid(error: ValidationError) -> Problem:
    return invalid_fields(error.errors(include_url=False, include_context=False, include_input=False))


def pointer(location: Sequence[int | str]) -> str:
    """Return the JSON pointer of a validator's location: without where the value came from and union tags."""
    parts = list(location)
    if parts and parts[0] in ("body", "query", "path", "header"):
        parts = parts[1:]
    shown = [part for index, part in enumerate(parts) if index == 0 or parts[index - 1] not in _TAGGED]
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in shown if part != "[key]")
    return "".join(f"/{part}" for part in escaped)


def answer(document: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer that carries a problem."""
    status = document["status"]
    more = dict(headers or {})
    if status in RETRY_AFTER_S:
        more["Retry-After"] = str(RETRY_AFTER_S[status])
    if status == 401:
        more["WWW-Authenticate"] = 'Bearer realm="chronoshard"'
    return Response(msgspec.json.encode(document), status, more, MEDIA_TYPE)


def on_error(request: Request, error: Exception) -> Response:
    """Answer any exception; registered for each kind that the framework tells apart."""
    request_id = request.scope.get("request_id")
    match error:
        case errors.ChronoshardError():
            if status_of(error) >= 500:
                log.warning("request.unavailable", request_id=request_id, code=error.code, cause=error.detail)
            return answer(problem_of(error, request_id))
        case RequestValidationError():
            return answer(invalid_fields(error.errors(), request_id))
        case HTTPException(status_code=status, detail=detail, headers=headers):
            code = _HTTP_CODES.get(status, "http")
            said = detail if detail and status not in (404, 405) else _about_path(request, status)
            return answer(problem(status, code, said, request_id=request_id), headers)
        case _:
            log.error("request.crashed", request_id=request_id, path=request.url.path, exc_info=error)
            return answer(
                problem(
                    500,
                    "internal",
                    "the server met something that it did not foresee; its log has the details",
                    request_id=request_id,
                )
            )


def _about_path(request: Request, status: int) -> str:
    path = request.url.path[:200]
    return f"there is no {path}" if status == 404 else f"{path} does not take {request.method}"


def _kind(kind: str) -> str:
    return _KINDS.get(kind, kind if "." in kind else "field.invalid")


def _said(entry: ErrorDetails | Mapping[str, Any]) -> str:
    """Return a validator's message as part of a sentence."""
    message = str(entry["msg"])
    if entry["type"] == "extra_forbidden":
        return "there is no such field"
    if entry["type"] == "missing":
        return "this field is needed"
    return re.sub(r"^(Value|Assertion) error, ", "", message)
