"""Idempotency keys: the same request, however often it comes, is carried out once and answered the same.

Only successes are kept: what was refused may be mended and sent again under the same key. A reservation whose
process is gone is taken over; the flows find what it had begun by the key itself.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from chronoshard.api.answers import caller_of, context_of
from chronoshard.api.context import Context
from chronoshard.api.edge import StrictRequest
from chronoshard.domain.access import KeptAnswer
from chronoshard.errors import Conflict, InvalidInput

PART = "api"  # as which an api is a member, so that others know which reservations are alive
HEADER = "idempotency-key"
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_HOLDER = "x-holder"
_BOUNDARY = re.compile(r"boundary=\"?([^\";]+)")

Handler = Callable[[Request], Awaitable[Response]]


class Route(APIRoute):
    """A route whose bodies are strict JSON and whose writes take an idempotency key."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            asked = StrictRequest(request.scope, request.receive)
            key = asked.headers.get(HEADER)
            if key is None or asked.method not in _WRITES:
                return await handle(asked)
            return await _once(asked, key, handle)

        return strict


class _Reserved(NamedTuple):
    """`kept`: the answer that is there already; None: the request is this one's to carry out."""

    mine: KeptAnswer
    kept: KeptAnswer | None


async def _once(request: Request, key: str, handle: Handler) -> Response:
    if _KEY.fullmatch(key) is None:
        raise InvalidInput("an idempotency key is 1 to 255 visible ASCII characters", code="idempotency.key")
    context = context_of(request)
    scope = f"{caller_of(request).owner} {request.method} {request.url.path}"
    digest = _digest(request, await request.body())
    request.scope["idempotency_key"], request.scope["body_hash"] = key, digest
    if not context.memory.begin(scope, key):
        raise _under_way()
    try:
        mine, kept = await run_in_threadpool(_reserve, context, scope, key, digest)
        if kept is not None:
            return Response(kept.body, kept.status, dict(kept.headers))
        return await _carry_out(context, request, mine, handle)
    finally:
        context.memory.finish(scope, key)


async def _carry_out(context: Context, request: Request, mine: KeptAnswer, handle: Handler) -> Response:
    done = None
    try:
        answered = await handle(request)
        if 200 <= answered.status_code < 300:
            done = answered
        return answered
    finally:
        if done is None:
            await run_in_threadpool(context.store.access.free_key, mine)
        else:
            await run_in_threadpool(_keep, context, mine, done)


def _keep(context: Context, mine: KeptAnswer, done: Response) -> None:
    headers = {name: value for name, value in done.headers.items() if name != "content-length"}
    kept = KeptAnswer(
        scope=mine.scope,
        key=mine.key,
        body_hash=mine.body_hash,
        taken_ms=mine.taken_ms,
        status=done.status_code,
        headers=headers,
        body=bytes(done.body),
    )
    context.store.access.keep_answer(kept)


def _reserve(context: Context, scope: str, key: str, digest: str) -> _Reserved:
    """Take the key or find its answer; raise Conflict when it is another request's."""
    access = context.store.access
    mine = KeptAnswer(
        scope=scope,
        key=key,
        body_hash=digest,
        taken_ms=context.clock.now_ms(),
        headers={_HOLDER: context.memory.instance},
    )
    kept = access.take_key(mine)
    if kept is not None and kept.status == 0 and not _is_alive(context, kept.headers.get(_HOLDER, "")):
        _check_same(kept, digest)
        access.free_key(kept)
        kept = access.take_key(mine)
    if kept is None:
        return _Reserved(mine, None)
    _check_same(kept, digest)
    if kept.status == 0:
        raise _under_way()
    return _Reserved(mine, kept)


def _check_same(kept: KeptAnswer, digest: str) -> None:
    if kept.body_hash != digest:
        raise Conflict(
            "this idempotency key came with another request before",
            code="idempotency.reused",
            hint="use a fresh key for each request",
        )


def _is_alive(context: Context, holder: str) -> bool:
    """Say whether a reservation's process may still be at work. One of our own is not: see Memory.begin."""
    others = {member.name for member in context.coordination.members(PART)} - {context.memory.instance}
    return holder in others


def _under_way() -> Conflict:
    return Conflict(
        "the request with this idempotency key is still under way", code="idempotency.under_way", hint="try again"
    )


def _digest(request: Request, body: bytes) -> str:
    """Return what tells bodies apart: the boundary of a form is another one at each sending."""
    content_type = request.headers.get("content-type", "")
    found = _BOUNDARY.search(content_type)
    if content_type.startswith("multipart/") and found is not None:
        body = body.replace(found[1].encode(), b"")
    query = request.url.query.encode()
    return hashlib.sha256(b"%d %s\n%s" % (len(query), query, body)).hexdigest()
