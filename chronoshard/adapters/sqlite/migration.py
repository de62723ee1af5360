"""Numbered migrations, each applied once and in order, known by number, name and checksum.

A file that was written by a newer version, or by a migration that has been edited since, is refused before
anything is read from it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from importlib import resources
from typing import NamedTuple

from chronoshard.errors import Conflict

_CREATE = """
CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_ms INTEGER NOT NULL
) STRICT
"""


class Migration(NamedTuple):
    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


def known() -> list[Migration]:
    """Return the migrations of this version, in order."""
    folder = resources.files("chronoshard.adapters.sqlite") / "migrations"
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".sql"))
    return [
        Migration(int(name.partition("_")[0]), name.removesuffix(".sql"), (folder / name).read_text("utf-8"))
        for name in names
    ]


def migrate(connection: sqlite3.Connection, migrations: list[Migration], *, now_ms: int) -> None:
    """Bring the schema up to the last of `migrations`; raise Conflict when what is there is none of them."""
    connection.execute(_CREATE)
    applied = {
        number: (name, checksum)
        for number, name, checksum in connection.execute("SELECT number, name, checksum FROM migrations")
    }
    _check(applied, migrations)
    for migration in migrations:
        if migration.number not in applied:
            _apply(connection, migration, now_ms)


def _check(applied: dict[int, tuple[str, str]], migrations: list[Migration]) -> None:
    known_numbers = {migration.number for migration in migrations}
    if newer := sorted(applied.keys() - known_numbers):
        raise Conflict(
            f"the store has migration {newer[-1]} ({applied[newer[-1]][0]}), this version knows none above "
            f"{max(known_numbers)}",
            code="store.schema_newer",
            hint="use the version that last wrote to it, or a newer one",
        )
    for migration in migrations:
        if migration.number in applied and applied[migration.number][1] != migration.checksum:
            raise Conflict(
                f"migration {migration.name} was applied with another content than it has now",
                code="store.schema_changed",
                hint="use the version that last wrote to the store; a migration is never edited, the next one is",
            )


def _apply(connection: sqlite3.Connection, migration: Migration, now_ms: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in statements(migration.sql):
            connection.execute(statement)
        connection.execute(
            "INSERT INTO migrations VALUES (?, ?, ?, ?)",
            (migration.number, migration.name, migration.checksum, now_ms),
        )
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def statements(sql: str) -> list[str]:
    """Split a script where its statements end (`executescript` would commit on its own)."""
    found: list[str] = []
    text = ""
    for line in sql.splitlines(keepends=True):
        text += line
        if sqlite3.complete_statement(text):
            found.append(text.strip())
            text = ""
    return found
