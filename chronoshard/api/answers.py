"""Answers as JSON. Documents carry params as they are kept, as text, which only msgspec writes as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec
from fastapi import Request, Response

from chronoshard.api.auth import Caller
from chronoshard.api.context import Context

JSON = "application/json"


def answer(document: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a document as an answer."""
    return Response(msgspec.json.encode(document), status, dict(headers or {}), JSON)


def context_of(request: Request) -> Context:
    return cast(Context, request.app.state.context)


def caller_of(request: Request) -> Caller:
    """Return who asks: the edge has found it out before any route was looked up."""
    return cast(Caller, request.scope["caller"])


def idempotency_key_of(request: Request) -> str | None:
    """Return the key that came with a write, as the route has checked it."""
    return cast("str | None", request.scope.get("idempotency_key"))


def body_hash_of(request: Request) -> str:
    return cast(str, request.scope.get("body_hash", ""))


def problem_responses() -> dict[int | str, dict[str, Any]]:
    """Return how the OpenAPI document describes whatever is not a success."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        status: {"description": said, "content": content}
        for status, said in (("4XX", "what is wrong with the request"), ("5XX", "try again later"))
    }
