"""A question to the database: a statement that answers with one JSON text, and the type of what is in it.

One text in and one text out: see the package's docstring for what that saves.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode
_NUL = b"\\u0000"  # SQLite ends a text there when it takes it out of JSON
_REPLACEMENT = b"\\ufffd"


def as_json(items: object) -> str:
    """Return a batch as the text that statements unpack with json_each."""
    data = _encode(items)
    if _NUL in data:
        data = data.replace(_NUL, _REPLACEMENT)
    return data.decode()


def flag(column: str) -> str:
    """Return the expression that gives a column of 0 and 1 as JSON's true and false."""
    return f"json(iif({column}, 'true', 'false'))"


class Query(Generic[T]):
    def __init__(self, sql: str, answer: type[T]) -> None:
        self.sql = sql
        self._decode = msgspec.json.Decoder(answer).decode

    def run(self, connection: sqlite3.Connection, parameters: dict[str, Any] | None = None) -> T:
        """Ask on an open connection; a JSON null (no row) is what the type says about it."""
        row = connection.execute(self.sql, parameters or {}).fetchone()
        return self._decode(row[0] if row is not None and row[0] is not None else "null")
