"""What needs no token: is it alive, is it ready, which version."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from fastapi import APIRouter, Request, Response

from chronoshard.api.answers import answer, context_of

router = APIRouter(tags=["health"])


@router.get("/healthz")
def healthz() -> Response:
    """Say that the process answers."""
    return answer({"status": "ok"})


@router.get("/readyz")
def readyz(request: Request) -> Response:
    """Say that the store answers too; 503 otherwise."""
    context_of(request).store.ping()
    return answer({"status": "ok"})


@router.get("/version")
def get_version() -> Response:
    """Return the server's version."""
    return answer({"version": server_version(), "api": "v1"})


def server_version() -> str:
    try:
        return version("chronoshard")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "0"
