"""A question to the database: a statement that answers with one JSON text, and the type of what is in it.

One text in and one text out: see the package's docstring for what that saves.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")

# The items of a batch as rows. Materialized, because json_each writes an item out anew each time it is looked at: a
# row of the history, whose 17 cells are taken from it, costs 6 us this way and 14 us without.
ITEMS = "(WITH one AS MATERIALIZED (SELECT value FROM json_each(:batch)) SELECT value FROM one) AS item"

_encode = msgspec.json.Encoder().encode
_NUL = b"\\u0000"  # SQLite ends a text there when it takes it out of JSON
_REPLACEMENT = b"\\ufffd"


def as_json(items: object) -> str:
    """Return a batch as the text that statements unpack."""
    data = _encode(items)
    if _NUL in data:
        data = data.replace(_NUL, _REPLACEMENT)
    return data.decode()


def cells(*paths: str) -> str:
    """Return the expressions that take these paths out of an item."""
    return ", ".join(f"item.value ->> '$.{path}'" for path in paths)


def flag(column: str) -> str:
    """Return the expression that gives a column of 0 and 1 as JSON's true and false."""
    return f"json(iif({column}, 'true', 'false'))"


def objects(*parts: str) -> str:
    """Return the expression that joins texts, each part of a JSON value already, to one array per group.

    What was stored as JSON is not parsed again to be answered.
    """
    return f"'[' || ifnull(group_concat({' || '.join(parts)}), '') || ']'"


class Query(Generic[T]):
    def __init__(self, sql: str, answer: type[T]) -> None:
        self.sql = sql
        self._decode = msgspec.json.Decoder(answer).decode

    def run(self, connection: sqlite3.Connection, parameters: dict[str, Any] | None = None) -> T:
        """Ask on an open connection; a JSON null (no row) is what the type says about it."""
        row = connection.execute(self.sql, parameters or {}).fetchone()
        return self._decode(row[0] if row is not None and row[0] is not None else "null")
