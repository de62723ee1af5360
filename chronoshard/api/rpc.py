"""Remote procedure calls: JSON-RPC 2.0 at POST /rpc, over the same flows as REST.

Each member of a batch is answered by itself. A notification is carried out and not answered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from chronoshard.api import problems, rpc_methods
from chronoshard.api.answers import answer, caller_of, context_of
from chronoshard.api.auth import Caller
from chronoshard.api.context import Context
from chronoshard.api.edge import decoded
from chronoshard.errors import ChronoshardError

router = APIRouter(tags=["rpc"])

MAX_BATCH = 100
PARSE, REQUEST, METHOD, PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
# Application errors by the status that REST has for them.
CODES = {401: -32001, 403: -32003, 404: -32004, 409: -32009, 412: -32012, 413: -32013, 422: -32022, 429: -32029}
UNAVAILABLE = -32053

_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["jsonrpc", "method"],
                    "properties": {
                        "jsonrpc": {"const": "2.0"},
                        "method": {"enum": sorted(rpc_methods.METHODS)},
                        "params": {"type": ["object", "array"]},
                        "id": {"type": ["string", "integer", "null"]},
                    },
                }
            }
        },
    }
}

Document = dict[str, Any]


class _Refused(Exception):
    """An error object of JSON-RPC."""

    def __init__(self, code: int, message: str, data: Document | None = None) -> None:
        super().__init__(message)
        self.document: Document = {"code": code, "message": message, **({"data": data} if data else {})}


@router.post("/rpc", openapi_extra=_BODY, responses={204: {"description": "only notifications"}})
async def rpc(request: Request) -> Response:
    """Call submit_job, retrieve_all_jobs, delete_job or get_exec_history."""
    try:
        body = decoded(await request.body())
    except HTTPException as error:
        if error.status_code != 400:
            raise
        return answer(_failed(None, _Refused(PARSE, str(error.detail)).document))
    context, caller = context_of(request), caller_of(request)
    told = await run_in_threadpool(_answers, context, caller, body)
    return Response(status_code=204) if told is None else answer(told)


def _answers(context: Context, caller: Caller, body: Any) -> Document | list[Document] | None:
    if not isinstance(body, list):
        return _answer(context, caller, body)
    if not body or len(body) > MAX_BATCH:
        return _failed(None, _Refused(REQUEST, f"a batch has 1 to {MAX_BATCH} members").document)
    told = [one for member in body if (one := _answer(context, caller, member)) is not None]
    return told or None


def _answer(context: Context, caller: Caller, call: Any) -> Document | None:
    """Carry out one call; None: nobody waits for an answer."""
    call_id = call.get("id") if isinstance(call, dict) else None
    if isinstance(call_id, bool) or not isinstance(call_id, str | int | float | None):
        call_id = None
    try:
        method, arguments, params = _checked(call)
    except _Refused as error:
        notified = isinstance(call, dict) and "id" not in call and error.document["code"] != REQUEST
        return None if notified else _failed(call_id, error.document)
    try:
        result = _call(context, caller, method, arguments, params)
        document: Document = {"jsonrpc": "2.0", "result": result, "id": call_id}
    except _Refused as error:
        document = _failed(call_id, error.document)
    return document if "id" in call else None


class _Call(NamedTuple):
    method: Callable[[Context, Caller, Any], Any]
    arguments: type[Any]
    params: Document


def _checked(call: Any) -> _Call:
    if not isinstance(call, dict) or call.get("jsonrpc") != "2.0" or not isinstance(call.get("method"), str):
        raise _Refused(REQUEST, "a call is {jsonrpc: '2.0', method, params?, id?}")
    if set(call) - {"jsonrpc", "method", "params", "id"}:
        raise _Refused(REQUEST, "a call has only jsonrpc, method, params and id")
    if isinstance(call.get("id"), bool | list | dict):
        raise _Refused(REQUEST, "an id is a text or a number")
    found = rpc_methods.METHODS.get(call["method"])
    if found is None:
        raise _Refused(METHOD, f"there is no method {call['method'][:80]!r}")
    arguments, method = found
    params = call.get("params", {})
    if isinstance(params, list):
        names = list(arguments.model_fields)
        if len(params) > len(names):
            raise _Refused(PARAMS, f"at most {len(names)} params: {', '.join(names)}")
        params = dict(zip(names, params, strict=False))
    if not isinstance(params, dict):
        raise _Refused(PARAMS, "params are an object or an array")
    return _Call(method, arguments, params)


def _call(context: Context, caller: Caller, method: Any, arguments: type[Any], params: Document) -> Any:
    try:
        return method(context, caller, arguments.model_validate(params))
    except ValidationError as error:
        problem = problems.invalid(error)
        raise _Refused(PARAMS, problem["detail"], problem) from error
    except ChronoshardError as error:
        problem = problems.problem_of(error)
        raise _Refused(CODES.get(problem["status"], UNAVAILABLE), problem["detail"], problem) from error


def _failed(call_id: Any, error: Document) -> Document:
    return {"jsonrpc": "2.0", "error": error, "id": call_id}
