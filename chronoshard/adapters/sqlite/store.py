"""The embedded store: all its members over one file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from chronoshard.adapters.sqlite.access import SqliteAccess
from chronoshard.adapters.sqlite.database import Database
from chronoshard.adapters.sqlite.executors import SqliteExecutors
from chronoshard.adapters.sqlite.expiry import DAY_MS, Retention, expire
from chronoshard.adapters.sqlite.history import SqliteHistory
from chronoshard.adapters.sqlite.jobs import SqliteJobs
from chronoshard.adapters.sqlite.minutes import SqliteMinutes
from chronoshard.adapters.sqlite.query import Query
from chronoshard.adapters.sqlite.timetable import SqliteTimetable
from chronoshard.clock import Clock
from chronoshard.domain.identity import MINUTE_MS, Partition
from chronoshard.errors import Conflict

_NEXT = Query(
    """SELECT json_quote(due_ms) FROM timetable
    WHERE shard = :shard AND due_ms >= :from_ms AND due_ms < :until_ms ORDER BY due_ms LIMIT 1""",
    int | None,  # type: ignore[arg-type]
)
_SHARDS = Query("SELECT json_quote(value) FROM installation WHERE key = 'shards'", str | None)  # type: ignore[arg-type]


class SqliteStore:
    """See ports.Store. `shards` is fixed when the file is made."""

    def __init__(self, database: Database, clock: Clock, *, shards: int, retention: Retention) -> None:
        self._database = database
        self._clock = clock
        self._retention = retention
        self._shards = shards
        self.timetable = SqliteTimetable(database, shards=shards)
        self.minutes = SqliteMinutes(database)
        self.jobs = SqliteJobs(database, shards=shards)
        self.history = SqliteHistory(database)
        self.executors = SqliteExecutors(database, clock, kept_ms=retention.timetable_days * DAY_MS)
        self.access = SqliteAccess(database)

    @classmethod
    def open(
        cls, path: Path, *, shards: int, clock: Clock, timetable_days: int = 7, history_days: int = 180
    ) -> SqliteStore:
        """Open or make the store at `path`.

        Raises Unavailable (in use, disk), Conflict (another schema, another number of shards).
        """
        database = Database(path, now_ms=clock.now_ms())
        database.execute("INSERT OR IGNORE INTO installation VALUES ('shards', :shards)", {"shards": str(shards)})
        made_with = database.ask(_SHARDS)
        if made_with != str(shards):
            database.close()
            raise Conflict(
                f"the store {path} was made with {made_with} shards, the settings say {shards}",
                code="store.shards",
                hint=f"set shards to {made_with}, or use another data directory",
            )
        retention = Retention(timetable_days=timetable_days, history_days=history_days)
        return cls(database, clock, shards=shards, retention=retention)

    def now_ms(self) -> int:
        return self._clock.now_ms()

    def ping(self) -> str:
        return f"SQLite {sqlite3.sqlite_version}"

    def expire(self, *, now_ms: int, limit: int) -> int:
        return expire(self._database, self._retention, shards=self._shards, now_ms=now_ms, limit=limit)

    def iter_partitions(self, shard: int, *, from_minute: int, until_minute: int) -> Iterator[Partition]:
        from_ms = from_minute * MINUTE_MS
        until_ms = until_minute * MINUTE_MS
        while True:
            due_ms = self._database.ask(_NEXT, {"shard": shard, "from_ms": from_ms, "until_ms": until_ms})
            if due_ms is None:
                return
            minute = due_ms // MINUTE_MS
            yield Partition(minute, shard)
            from_ms = (minute + 1) * MINUTE_MS

    def close(self) -> None:
        self._database.close()
