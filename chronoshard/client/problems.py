"""Turns a server's answer that is no success into the error that the server meant.

`code`, the pointers, the hint and the request's id survive the wire: what a program can match on is the same on
both sides.
"""

from __future__ import annotations

import json
from typing import Any

from chronoshard import errors

_BY_STATUS: dict[int, type[errors.ChronoshardError]] = {
    400: errors.InvalidInput,
    401: errors.Unauthorized,
    403: errors.Forbidden,
    404: errors.NotFound,
    405: errors.InvalidInput,
    409: errors.Conflict,
    412: errors.StaleVersion,
    413: errors.TooLarge,
    415: errors.InvalidInput,
    422: errors.InvalidInput,
    429: errors.TooMany,
    502: errors.Unavailable,
    503: errors.Unavailable,
    504: errors.OutcomeUnknown,
}


def error_from(status: int, content: bytes, request_id: str | None = None) -> errors.ChronoshardError:
    """Return the error that an answer with this status and content stands for.

    A body that is no problem document (a proxy's page, nothing at all) still gives an error that says so.
    """
    problem = _decoded(content)
    kind = _BY_STATUS.get(status, errors.ChronoshardError)
    code = problem.get("code")
    if isinstance(code, str) and code == errors.OutcomeUnknown.default_code:
        kind = errors.OutcomeUnknown
    detail = problem.get("detail") or problem.get("title") or f"the server answered {status} and said no more"
    error = kind(str(detail), code=str(code) if code else None, hint=_text(problem.get("hint")))
    error.fields = _fields(problem.get("errors"))
    error.pointer = error.fields[0][0] if error.fields else _text(problem.get("pointer"))
    error.request_id = _text(problem.get("request_id")) or request_id
    return error


def _decoded(content: bytes) -> dict[str, Any]:
    try:
        problem = json.loads(content)
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}


def _fields(listed: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(listed, list):
        return ()
    entries = [entry for entry in listed if isinstance(entry, dict) and "pointer" in entry]
    return tuple((str(entry["pointer"]), str(entry.get("detail", ""))) for entry in entries)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
