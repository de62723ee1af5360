"""Remote procedure calls, JSON-RPC 2.0. See `call`."""

from __future__ import annotations

from fastapi import APIRouter

router = APIRouter(tags=["rpc"])
