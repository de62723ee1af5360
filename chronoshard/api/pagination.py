"""Cursors: opaque to clients, checked on the way back in. They say where a list goes on, and nothing secret."""

from __future__ import annotations

import base64
import binascii
from typing import Any, TypeVar

import msgspec

from chronoshard.errors import InvalidInput

DEFAULT_LIMIT = 50
MAX_LIMIT = 200
_MAX_CURSOR = 1_000

T = TypeVar("T")


def cursor_of(position: object) -> str:
    """Return the cursor for a position: what JSON can say of it."""
    return base64.urlsafe_b64encode(msgspec.json.encode(position)).decode().rstrip("=")


def position_of(cursor: str | None, kind: type[T]) -> T | None:
    """Return the position that a cursor of this list names; raise InvalidInput when it is not one of ours."""
    if cursor is None:
        return None
    try:
        text = base64.urlsafe_b64decode(cursor[:_MAX_CURSOR] + "=" * (-len(cursor) % 4))
        return msgspec.json.decode(text, type=kind)
    except (binascii.Error, ValueError, msgspec.DecodeError) as error:
        raise InvalidInput(
            "this cursor is broken",
            code="cursor.invalid",
            pointer="/cursor",
            hint="use next_cursor as it was given, with the same filters, or begin without a cursor",
        ) from error


def page(items: list[Any], next_position: object | None) -> dict[str, Any]:
    """Return the shape of every list."""
    return {"items": items, "next_cursor": None if next_position is None else cursor_of(next_position)}


def sliced(items: list[Any], cursor: str | None, limit: int) -> dict[str, Any]:
    """Return a page of a list that is small enough to be read as a whole."""
    start = position_of(cursor, int) or 0
    if start < 0:
        raise InvalidInput("this cursor is broken", code="cursor.invalid", pointer="/cursor")
    more = start + limit < len(items)
    return page(items[start : start + limit], start + limit if more else None)
