"""Around every request: its id, the limits on size and number, the token, and a body of strict JSON.

The token is looked at before the body is read and whatever the path is, so no route can forget it (invariant 12).
Too much is refused before it is parsed (invariant 11).
"""

from __future__ import annotations

import re
import uuid
from typing import Any

import msgspec
from fastapi import HTTPException
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chronoshard.api import problems
from chronoshard.api.auth import authorize
from chronoshard.api.context import Context
from chronoshard.errors import TooLarge, TooMany

MAX_REQUESTS = 256  # under way at once in one process; the next ones are told to come again
SMALL_BODY = 1024 * 1024  # bytes, of a request that carries no code
ENVELOPE = 1024 * 1024  # what may stand around the code in a request
ESCAPED = 2  # JSON writes some characters of a source as two
_CODE_PATHS = re.compile(r"/api/v1/(tasks|jobs|jobs/batch|jobs/[0-9a-f]{32})|/rpc")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")


class Edge:
    """Outermost part of the application."""

    def __init__(self, app: ASGIApp, context: Context) -> None:
        self._app = app
        self._context = context
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        request_id = _id_of(headers)
        scope["request_id"] = request_id
        answered = _Answered(send, request_id)
        self._under_way += 1
        try:
            if self._under_way > MAX_REQUESTS:
                raise TooMany("the server has as many requests under way as it takes", code="limit.requests")
            await self._authorize(scope, headers)
            limit = body_limit(scope["path"], self._context.settings.max_source)
            await self._app(scope, _Limited(receive, headers, limit), answered)
        except Exception as error:
            if answered.begun:
                raise
            await problems.on_error(Request(scope), error)(scope, receive, answered)
        finally:
            self._under_way -= 1

    async def _authorize(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        token = headers.get(b"authorization", b"").decode("latin-1")
        known = authorize(self._context, scope["method"], scope["path"], token, only_remembered=True)
        if known is None:
            known = await run_in_threadpool(
                authorize, self._context, scope["method"], scope["path"], token, only_remembered=False
            )
        scope["caller"] = known


class StrictRequest(Request):
    """JSON as RFC 8259 has it: no NaN, no lone surrogates, no depth without bounds."""

    async def json(self) -> Any:
        return decoded(await self.body())


def decoded(body: bytes) -> Any:
    """Return what a JSON text says; raise HTTPException 400 with the place where it is broken."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise HTTPException(400, f"the body is no JSON: {error}") from error
    except RecursionError as error:
        raise HTTPException(400, "the body is nested too deeply") from error


def body_limit(path: str, max_source: int) -> int:
    """Return how many bytes a request to `path` may have."""
    return max_source * ESCAPED + ENVELOPE if _CODE_PATHS.fullmatch(path) else SMALL_BODY


class _Limited:
    """A `receive` that stops at the limit, whatever the headers promised."""

    def __init__(self, receive: Receive, headers: dict[bytes, bytes], limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._said = f"the body is over {limit:,} bytes"
        self._seen = 0
        declared = headers.get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > limit:
            raise TooLarge(self._said, code="limit.body")

    async def __call__(self) -> Message:
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        if self._seen > self._limit:  # what else is raised while a body is read, the framework takes for bad JSON
            raise HTTPException(413, self._said)
        return message


class _Answered:
    """A `send` that adds the request's id and knows whether an answer has begun."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._header = (b"x-request-id", request_id.encode())
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            message["headers"] = [*message.get("headers", ()), self._header]
        await self._send(message)


def _id_of(headers: dict[bytes, bytes]) -> str:
    """Return the caller's own id for the request if it is a decent one, else a fresh one."""
    given = headers.get(b"x-request-id", b"").decode("latin-1")
    return given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
