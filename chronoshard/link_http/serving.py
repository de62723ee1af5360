"""The link's servers: an executor or an orchestrator as an ASGI application.

What is refused before the link is asked has certainly done nothing; what the link did not mean to raise leaves its
outcome open and says so.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping

import msgspec
import structlog
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from chronoshard.errors import (
    ChronoshardError,
    InvalidInput,
    LinkRefused,
    LinkTimeout,
    NotFound,
    TooLarge,
    Unauthorized,
    Unavailable,
)
from chronoshard.link import ExecutorLink, OrchestratorLink
from chronoshard.link_http.wire import (
    EXECUTOR,
    ORCHESTRATOR,
    VERSION,
    Method,
    Problem,
    authorization,
    decode_arguments,
)

log = structlog.get_logger(__name__)

MAX_BODY = 64 * 1024 * 1024  # bytes: a bundle of 100 orders with the largest params is 9 MB

_STATUS: Mapping[type[ChronoshardError], int] = {
    Unauthorized: 401,
    NotFound: 404,
    LinkRefused: 409,
    TooLarge: 413,
    InvalidInput: 422,
    Unavailable: 503,
    LinkTimeout: 504,
}


def serve_executor(link: ExecutorLink, token: str) -> ASGIApp:
    """Return the application that serves `link` to whoever has the token."""
    return _application("executor", EXECUTOR, link, token)


def serve_orchestrator(link: OrchestratorLink, token: str) -> ASGIApp:
    """Return the application that serves `link` to whoever has the token."""
    return _application("orchestrator", ORCHESTRATOR, link, token)


def _application(part: str, methods: Mapping[str, Method], link: object, token: str) -> Starlette:
    expected = authorization(token).encode()

    async def answer(request: Request) -> Response:
        try:
            given = request.headers.get("authorization", "").encode("latin-1")
            if not hmac.compare_digest(given, expected):
                raise Unauthorized("not the token of this link")
            path = request.path_params
            method = methods.get(path["method"]) if (path["version"], path["part"]) == (VERSION, part) else None
            if method is None:
                raise NotFound(f"no such call here: {request.url.path}; this is {part} {VERSION}")
            body = await _body(request)
            content = await run_in_threadpool(_call, link, path["method"], method, body)
        except ChronoshardError as error:
            return _problem(error)
        return Response(content, media_type="application/json")

    return Starlette(routes=[Route("/link/{version}/{part}/{method}", answer, methods=["POST"])])


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise TooLarge(f"more than {MAX_BODY} bytes")
    return bytes(body)


def _call(link: object, name: str, method: Method, body: bytes) -> bytes:
    """Check the arguments, then ask the link."""
    arguments = decode_arguments(method, body)
    try:
        return msgspec.json.encode(getattr(link, name)(**arguments))
    except (LinkRefused, LinkTimeout, Unavailable):
        raise
    except Exception as error:
        log.exception("link.failed", method=name)
        raise LinkTimeout(f"{name} failed in the middle: {error!r}", code="link.failed") from error


def _problem(error: ChronoshardError) -> Response:
    status = next(status for kind, status in _STATUS.items() if isinstance(error, kind))
    problem = Problem(error.code, error.detail, error.pointer, error.hint)
    return Response(msgspec.json.encode(problem), status_code=status, media_type="application/json")
