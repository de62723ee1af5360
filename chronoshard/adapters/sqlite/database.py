"""The connections to one SQLite file: one that writes, one per thread that reads."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from chronoshard.adapters.sqlite.failures import unavailable
from chronoshard.adapters.sqlite.guard import Guard
from chronoshard.adapters.sqlite.migration import known, migrate
from chronoshard.adapters.sqlite.query import Query
from chronoshard.errors import Unavailable

T = TypeVar("T")

CACHE_KB = 16_384  # of pages, for each connection
BUSY_S = 5.0
WAL_PAGES = 4_000  # after which the log is written back


class Database:
    def __init__(self, path: Path, *, now_ms: int) -> None:
        """Open or make the file; raise Unavailable (in use, not to be opened), Conflict (another schema)."""
        self.path = path
        self._guard = Guard(path)
        self._lock = threading.RLock()
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._closed = False
        with self._explained():
            self._writer = self._connect()
            self._writer.execute("PRAGMA journal_mode = WAL")
            self._writer.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
            migrate(self._writer, known(), now_ms=now_ms)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for reader in self._readers:
                reader.close()
            self._writer.close()
            self._guard.release()

    @contextlib.contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Give the connection that writes for one transaction, durable when the block ends."""
        with self._lock, self._explained():
            self._check_open()
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
            except BaseException:
                self._roll_back()
                raise
            with self._explained(committing=True):
                try:
                    self._writer.execute("COMMIT")
                except sqlite3.Error:
                    self._roll_back()
                    raise

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep every other writer out for several transactions."""
        with self._lock:
            yield

    def execute(self, sql: str, parameters: dict[str, Any] | None = None) -> int:
        """Run one statement in a transaction of its own; return how many rows it changed."""
        with self.write() as connection:
            return connection.execute(sql, parameters or {}).rowcount

    def ask(self, query: Query[T], parameters: dict[str, Any] | None = None) -> T:
        """Answer from the newest committed state."""
        with self._explained():
            return query.run(self._reader(), parameters)

    def _reader(self) -> sqlite3.Connection:
        self._check_open()
        reader: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if reader is None:
            reader = self._connect()
            reader.execute("PRAGMA query_only = ON")
            self._local.connection = reader
            with self._lock:
                self._readers.append(reader)
        return reader

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
        return connection

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable(f"the store {self.path} has been closed", code="store.closed")

    def _roll_back(self) -> None:
        if self._writer.in_transaction:
            self._writer.execute("ROLLBACK")

    @contextlib.contextmanager
    def _explained(self, *, committing: bool = False) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            told = unavailable(error, self.path, committing=committing)
            if told is None and not self._closed:
                raise
            raise told or Unavailable(f"the store {self.path} has been closed", code="store.closed") from error
