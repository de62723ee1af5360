"""A question to the database: a statement that answers with one JSON text, and the type of what is in it.

One text in and one text out: see the package's docstring for what that saves.
"""

from __future__ import annotations

import re
import sqlite3
from typing import Any, Generic, TypeVar

import msgspec

T_co = TypeVar("T_co", covariant=True)

# The items of a batch as rows. Materialized, because json_each writes an item out anew each time it is looked at: a
# row of the history, whose 17 cells are taken from it, costs 6 us this way and 14 us without.
ITEMS = "(WITH one AS MATERIALIZED (SELECT value FROM json_each(:batch)) SELECT value FROM one) AS item"

_encode = msgspec.json.Encoder().encode
# SQLite ends a text at a NUL when it takes it out of JSON. One that is escaped twice is part of a text that is JSON.
_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
_REPLACEMENT = rb"\1\\ufffd"


def as_json(items: object) -> str:
    """Return a batch as the text that statements unpack."""
    data = _encode(items)
    if b"\\u0000" in data:
        data = _NUL.sub(_REPLACEMENT, data)
    return data.decode()


def as_body(value: object) -> str:
    """Return the text as which a value is stored whole."""
    return _encode(value).decode()


def cell(path: str) -> str:
    """Return the expression that takes a path (`field` or `[index]`, and on from there) out of an item."""
    return f"item.value ->> '${path if path.startswith('[') else '.' + path}'"


def cells(*paths: str) -> str:
    return ", ".join(map(cell, paths))


def flag(column: str) -> str:
    """Return the expression that gives a column of 0 and 1 as JSON's true and false."""
    return f"json(iif({column}, 'true', 'false'))"


def array(*parts: str) -> str:
    """Return the expression that makes one JSON array of the rows, each joined from texts that are JSON already.

    What was stored as JSON is not parsed to be answered.
    """
    return f"'[' || ifnull(group_concat({' || '.join(parts)}), '') || ']'"


class Query(Generic[T_co]):
    def __init__(self, sql: str, answer: type[T_co]) -> None:
        self.sql = sql
        self._decode = msgspec.json.Decoder(answer).decode

    def run(self, connection: sqlite3.Connection, parameters: dict[str, Any] | None = None) -> T_co:
        """Ask on an open connection; a JSON null (no row) is what the type says about it."""
        row = connection.execute(self.sql, parameters or {}).fetchone()
        return self._decode(row[0] if row is not None and row[0] is not None else "null")
