"""The timetable in SQLite: see ports.Timetable."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence

from chronoshard.adapters.sqlite.changes import Refused, apply
from chronoshard.adapters.sqlite.database import Database
from chronoshard.adapters.sqlite.query import ITEMS, Query, as_json
from chronoshard.adapters.sqlite.rows import KEY, ROW, same_key
from chronoshard.domain.attempt import Change, Plan, Row, is_done, is_possible
from chronoshard.domain.identity import MINUTE_MS, AttemptKey, Partition, shard_of
from chronoshard.domain.liveness import Incarnation

_PLANNED = ("owner", "cause", "generation", "ordinal", "retries", "requeues")
_PLAN = ", ".join(f"item.value ->> '$[1].{path}'" for path in (*(f"key[{n}]" for n in range(len(KEY))), *_PLANNED))

# A row is made once: what is there keeps everything that happened to it.
_INSERT = f"""
INSERT INTO timetable (shard, {", ".join(KEY)}, {", ".join(_PLANNED)})
SELECT item.value ->> '$[0]', {_PLAN} FROM {ITEMS} WHERE true
ON CONFLICT DO NOTHING"""

# A minute is a span of the primary key, so a page is read in one go.
_PAGE = Query(
    f"""
SELECT json_group_array({ROW}) FROM (
    SELECT * FROM timetable
    WHERE shard = :shard AND due_ms < :until_ms
        AND ({", ".join(KEY)}) > (:due_ms, :job_id, :nominal_ms, :origin, :attempt)
    ORDER BY {", ".join(KEY)} LIMIT :limit)""",
    list[Row],
)

_PLACED = f"(SELECT value ->> '$[0]' AS shard, value ->> '$[1]' AS value FROM {ITEMS}) AS item"

_ROWS = Query(f"SELECT json_group_array({ROW}) FROM {_PLACED} CROSS JOIN timetable ON {same_key('$')}", list[Row])

_RUNNING_ON = Query(
    f"""
SELECT json_group_array({ROW}) FROM {ITEMS} CROSS JOIN timetable
    ON incarnation = item.value ->> '$[1]' AND executor = item.value ->> '$[0]' AND state = 'RUNNING'""",
    list[Row],
)

_FOLLOW = f"UPDATE timetable SET followed = 1 FROM {_PLACED} WHERE {same_key('$')}"


class SqliteTimetable:
    def __init__(self, database: Database, *, shards: int) -> None:
        self._database = database
        self._shards = shards

    def insert(self, plans: Sequence[Plan]) -> None:
        if plans:
            batch = [(shard_of(plan.key.job_id, self._shards), plan) for plan in plans]
            self._database.execute(_INSERT, {"batch": as_json(batch)})

    def page(self, partition: Partition, *, after: AttemptKey | None, limit: int) -> list[Row]:
        start_ms = partition.minute * MINUTE_MS
        first = AttemptKey(start_ms, "", 0, 0, 0)  # below every key of the minute
        if after is not None and after.due_ms >= start_ms:
            first = after
        return self._database.ask(
            _PAGE,
            {
                "shard": partition.shard,
                "until_ms": start_ms + MINUTE_MS,
                **{column: getattr(first, column) for column in KEY},
                "limit": limit,
            },
        )

    def rows(self, keys: Sequence[AttemptKey]) -> list[Row | None]:
        return _in_order(keys, self._database.ask(_ROWS, self._placed(keys))) if keys else []

    def apply(self, partition: Partition, changes: Sequence[Change]) -> list[Row | None] | None:
        try:
            self._database.write(lambda connection: apply(connection, partition.shard, changes))
        except Refused:
            return self._database.write(lambda connection: self._apply_new(connection, partition.shard, changes))
        return None

    def follow(self, keys: Sequence[AttemptKey]) -> None:
        if keys:
            self._database.execute(_FOLLOW, self._placed(keys))

    def running_on(self, incarnations: Collection[Incarnation]) -> list[Row]:
        if not incarnations:
            return []
        return self._database.ask(_RUNNING_ON, {"batch": as_json(list(incarnations))})

    def _apply_new(
        self, connection: sqlite3.Connection, shard: int, changes: Sequence[Change]
    ) -> list[Row | None] | None:
        """Apply those that were not applied before; when any is refused none, and return the rows."""
        keys = [change.key for change in changes]
        rows = _in_order(keys, _ROWS.run(connection, self._placed(keys)))
        new: list[Change] = []
        for change, row in zip(changes, rows, strict=True):
            if row is None or not (is_done(change, row) or is_possible(change, row)):
                return rows
            if not is_done(change, row):
                new.append(change)
        apply(connection, shard, new)
        return None

    def _placed(self, keys: Sequence[AttemptKey]) -> dict[str, str]:
        return {"batch": as_json([(shard_of(key.job_id, self._shards), key) for key in keys])}


def _in_order(keys: Sequence[AttemptKey], found: list[Row]) -> list[Row | None]:
    by_key = {row.key: row for row in found}
    return [by_key.get(key) for key in keys]
