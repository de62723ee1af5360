"""The application: every path of the contract behind one edge, which no request gets around (invariant 12)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from chronoshard.api import (
    problems,
    routes_admin,
    routes_jobs,
    routes_open,
    routes_runs,
    routes_tasks,
    rpc,
)
from chronoshard.api.answers import problem_responses
from chronoshard.api.context import Context
from chronoshard.api.edge import Edge
from chronoshard.api.idempotency import PART
from chronoshard.errors import ChronoshardError
from chronoshard.ports.coordination import Member

FORGET_S = 1.0  # between two removals of intents that have been carried out
DESCRIPTION = "A distributed job scheduler that never silently loses a run."
_PROBLEM: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "hint": {"type": "string"},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "pointer": {"type": "string"},
                    "detail": {"type": "string"},
                    "code": {"type": "string"},
                },
            },
        },
    },
}


def create_app(context: Context) -> FastAPI:
    """Return the whole HTTP surface over what is in the context."""
    app = FastAPI(
        title="chronoshard",
        description=DESCRIPTION,
        version=routes_open.server_version(),
        lifespan=_membership(context),
        responses=problem_responses(),
        redoc_url=None,
        redirect_slashes=False,
        strict_content_type=False,
    )
    app.state.context = context
    for module in (routes_open, routes_jobs, routes_runs, routes_tasks, routes_admin, rpc):
        app.include_router(module.router)
    for kind in (ChronoshardError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, problems.on_error)
    app.add_middleware(Edge, context=context)
    _describe(app)
    return app


def _membership(context: Context) -> Any:
    member = Member(PART, context.memory.instance)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(context.coordination.join, member)
        ending = asyncio.Event()
        forgetting = asyncio.create_task(_forget_until(ending, context))
        try:
            yield
        finally:
            ending.set()
            await forgetting
            await run_in_threadpool(context.coordination.leave, member)

    return lifespan


async def _forget_until(ending: asyncio.Event, context: Context) -> None:
    """Remove the intents whose work is done, many at a time. One that stays is only looked at once more."""
    while not ending.is_set():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ending.wait(), FORGET_S)
        with contextlib.suppress(ChronoshardError):
            await run_in_threadpool(_forget_done, context)


def _forget_done(context: Context) -> None:
    done = context.memory.take_done()
    if done:
        context.store.jobs.forget_intents(done)


def _describe(app: FastAPI) -> None:
    """Complete the OpenAPI document: what problems look like, how tokens are sent, what validation answers."""
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = generate()
            parts = document.setdefault("components", {})
            parts.setdefault("schemas", {})["Problem"] = _PROBLEM
            parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            for path, operations in document["paths"].items():
                for operation in operations.values():
                    operation["responses"].pop("422", None)  # among the problems
                    if path.startswith(("/api/", "/rpc")):
                        operation["security"] = [{"token": []}]
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
