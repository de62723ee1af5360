"""One SQLite file: one connection that writes, any number that read.

A write is durable when it returns, and all of it or nothing happened. Writers that wait for their turn are joined:
whoever gets it carries out what all of them want in one transaction, each for itself in a savepoint, so that one
sync makes them all durable. Readers wait for nobody and see everything that was acknowledged before.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from chronoshard.adapters.sqlite.failures import unavailable
from chronoshard.adapters.sqlite.guard import Guard
from chronoshard.adapters.sqlite.migration import Migration, known, migrate
from chronoshard.adapters.sqlite.query import Query
from chronoshard.errors import ChronoshardError, OutcomeUnknown, Unavailable
from chronoshard.failpoints import failpoint

MIN_VERSION = (3, 38, 0)  # the first with `->>`
WRITER_CACHE_KB = 32_000  # of pages; bounds what the process holds, whatever is in the file
READER_CACHE_KB = 2_000
IDLE_READERS = 8  # connections kept for the next read; more are made while more read at once
WAL_PAGES = 4_000  # 16 MB of log, then it is written back: a page that changes often is written back once
WAL_LIMIT_BYTES = 64 * 1024 * 1024  # a log that grew beyond it is cut back
BUSY_S = 5.0  # for what lasts moments only, like a copy being made by `sqlite3`
JOINED = 64  # writes in one transaction: bounds how long the first of them waits for the others

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class _Ticket(Generic[T]):
    """A write that waits; then its result, or what it failed with."""

    def __init__(self, work: Work[T], *, single: bool) -> None:
        self._work = work
        self.single = single  # one statement, which is a transaction by itself
        self._result: list[T] = []
        self.error: BaseException | None = None

    @property
    def is_done(self) -> bool:
        return bool(self._result) or self.error is not None

    def run(self, connection: sqlite3.Connection) -> None:
        self._result = [self._work(connection)]

    def outcome(self) -> T:
        if self.error is not None:
            raise self.error
        return self._result[0]


class Database:
    def __init__(self, path: Path, *, now_ms: int, migrations: list[Migration] | None = None) -> None:
        """Open or make the file; raise Unavailable (in use, not to be opened), Conflict (another schema)."""
        if sqlite3.sqlite_version_info < MIN_VERSION:
            raise Unavailable(
                f"SQLite {sqlite3.sqlite_version} is too old: 3.38 or newer is needed",
                code="store.version",
                hint="use a Python that is built with a newer SQLite",
            )
        self.path = path
        self._turn = threading.Lock()
        self._waiting: deque[_Ticket[Any]] = deque()
        self._idle: deque[sqlite3.Connection] = deque()
        self._closed = False
        self._guard = Guard(path)
        try:
            self._writer = self._open(known() if migrations is None else migrations, now_ms)
        except BaseException:
            self._guard.release()
            raise

    def write(self, work: Work[T], *, single: bool = False) -> T:
        """Carry out `work` in a transaction; return its result when it is durable.

        What it raises undoes what it did, and is raised here. Raises Unavailable: nothing has changed;
        OutcomeUnknown: ask again. `single`: it runs one statement.
        """
        ticket = _Ticket(work, single=single)
        self._waiting.append(ticket)
        with self._turn:
            while not ticket.is_done:
                self._commit([self._waiting.popleft() for _ in range(min(JOINED, len(self._waiting)))])
        return ticket.outcome()

    def execute(self, sql: str, parameters: dict[str, Any] | None = None) -> int:
        """Run one statement that writes; return how many rows it changed."""
        return self.write(lambda connection: connection.execute(sql, parameters or {}).rowcount, single=True)

    def ask(self, query: Query[T], parameters: dict[str, Any] | None = None) -> T:
        """Answer from the newest committed state."""
        try:
            connection = self._reader()
            try:
                return query.run(connection, parameters)
            finally:
                self._give_back(connection)
        except sqlite3.Error as error:
            raise self._told(error) from error

    def close(self) -> None:
        """Wait for the write under way, then let the next program have the file."""
        with self._turn:
            if self._closed:
                return
            self._closed = True
            while self._idle:
                self._idle.pop().close()
            self._writer.close()
            self._guard.release()

    def _commit(self, tickets: list[_Ticket[Any]]) -> None:
        """Carry out waiting writes in one transaction; each ticket then has its result or its error."""
        committing = False
        bare = len(tickets) == 1 and tickets[0].single
        try:
            if self._closed:
                raise self._over()
            if not bare:  # each statement saved is a turn less in the queue for the interpreter
                self._writer.execute("BEGIN IMMEDIATE")
                for ticket in tickets:
                    self._run(ticket, joined=len(tickets) > 1)
            failpoint("store.before_commit")
            committing = True
            if bare:
                tickets[0].run(self._writer)
            else:
                self._writer.execute("COMMIT")
            failpoint("store.committed")
        except BaseException as error:
            self._roll_back()
            if isinstance(error, Exception):
                told = self._told(error, committing=committing)
            else:  # this thread is told to end; the others did nothing wrong
                told = OutcomeUnknown(f"a write to the store {self.path} was broken off", hint="ask again")
            for ticket in tickets:
                ticket.error = ticket.error or told
            if not isinstance(error, Exception):
                raise

    def _run(self, ticket: _Ticket[Any], *, joined: bool) -> None:
        """Carry out one write. Its error is its own affair as long as the transaction stands."""
        if not joined:
            ticket.run(self._writer)
            return
        self._writer.execute("SAVEPOINT one")
        try:
            ticket.run(self._writer)
        except Exception as error:
            if not self._writer.in_transaction:  # a full disk ends the whole of it
                raise
            self._writer.execute("ROLLBACK TO one")
            ticket.error = self._told(error)
        self._writer.execute("RELEASE one")

    def _roll_back(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            if not self._closed and self._writer.in_transaction:
                self._writer.execute("ROLLBACK")

    def _reader(self) -> sqlite3.Connection:
        if self._closed:
            raise self._over()
        try:
            return self._idle.pop()
        except IndexError:
            connection = self._connect(READER_CACHE_KB)
            connection.execute("PRAGMA query_only = ON")
            return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        if self._closed or len(self._idle) >= IDLE_READERS:
            connection.close()
        else:
            self._idle.append(connection)

    def _open(self, migrations: list[Migration], now_ms: int) -> sqlite3.Connection:
        with contextlib.suppress(OSError):  # SQLite says it better
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        connection: sqlite3.Connection | None = None
        try:
            connection = self._connect(WRITER_CACHE_KB)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
            connection.execute(f"PRAGMA journal_size_limit = {WAL_LIMIT_BYTES}")
            migrate(connection, migrations, now_ms=now_ms)
        except BaseException as error:
            if connection is not None:
                connection.close()
            raise self._told(error) from error
        return connection

    def _connect(self, cache_kb: int) -> sqlite3.Connection:
        # Never two threads at a time: the writer serves whose turn it is, a reader who has taken it.
        connection = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        connection.execute(f"PRAGMA cache_size = -{cache_kb}")
        connection.execute("PRAGMA mmap_size = 0")
        return connection

    def _told(self, error: BaseException, *, committing: bool = False) -> BaseException:
        """Return what callers are told about an error."""
        if not isinstance(error, sqlite3.Error):
            return error
        if self._closed:
            return self._over()
        return unavailable(error, self.path, committing=committing) or error

    def _over(self) -> ChronoshardError:
        return Unavailable(f"the store {self.path} has been closed", code="store.closed")
