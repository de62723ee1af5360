"""The ledger's marks in SQLite: see ports.Minutes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from chronoshard.adapters.sqlite.database import Database
from chronoshard.adapters.sqlite.query import Query, as_json, flag
from chronoshard.domain.identity import Partition
from chronoshard.domain.ledger import Mark, Totals

_MARK_CLOSING = """
INSERT INTO minutes (minute, shard, closing) SELECT value ->> 0, value ->> 1, 1 FROM json_each(:batch) WHERE true
ON CONFLICT (shard, minute) DO UPDATE SET closing = 1"""

_CLOSING = Query(
    """
SELECT json_group_array(json_array(m.minute, m.shard)) FROM json_each(:batch) k CROSS JOIN minutes m
    ON m.shard = k.value ->> 1 AND m.minute = k.value ->> 0 AND m.closing = 1""",
    list[tuple[int, int]],
)

_CLOSE = """
INSERT INTO minutes (minute, shard, closing, closed, settled, totals)
SELECT value ->> 0, value ->> 1, 1, 1, value ->> 2, value -> 3 FROM json_each(:batch) WHERE true
ON CONFLICT (shard, minute) DO UPDATE
    SET closed = 1, settled = max(settled, excluded.settled), totals = excluded.totals"""

_MARKS = Query(
    f"""
SELECT json_group_array(json_array(minute, json_object('closing', {flag("closing")}, 'closed', {flag("closed")},
    'settled', {flag("settled")}, 'totals', json(totals))))
FROM minutes WHERE shard = :shard AND minute >= :from_minute AND minute < :until_minute""",
    list[tuple[int, Mark]],
)

# Asked for again it has a new id: who forgets the old one, having looked before that, does not forget this.
_REOPEN = "INSERT OR REPLACE INTO reopened (minute, shard) SELECT value ->> 0, value ->> 1 FROM json_each(:batch)"
_REOPENED = Query(
    "SELECT json_group_array(json_array(id, minute)) FROM reopened WHERE shard = :shard", list[tuple[int, int]]
)
_FORGET = (
    "DELETE FROM reopened WHERE shard = :shard AND id IN (SELECT CAST(value AS INTEGER) FROM json_each(:ids))"
)


class SqliteMinutes:
    def __init__(self, database: Database) -> None:
        self._database = database

    def mark_closing(self, partitions: Sequence[Partition]) -> None:
        self._database.execute(_MARK_CLOSING, {"batch": as_json(partitions)})

    def closing(self, partitions: Collection[Partition]) -> set[Partition]:
        if not partitions:
            return set()
        return {Partition(*one) for one in self._database.ask(_CLOSING, {"batch": as_json(list(partitions))})}

    def close(self, totals: Mapping[Partition, Totals]) -> None:
        self._database.execute(_CLOSE, {"batch": as_json([(*p, 0, counted) for p, counted in totals.items()])})

    def settle(self, partitions: Mapping[Partition, Totals]) -> None:
        self._database.execute(_CLOSE, {"batch": as_json([(*p, 1, counted) for p, counted in partitions.items()])})

    def marks(self, shard: int, *, from_minute: int, until_minute: int) -> dict[int, Mark]:
        found = self._database.ask(
            _MARKS, {"shard": shard, "from_minute": from_minute, "until_minute": until_minute}
        )
        return dict(found)

    def reopen(self, partitions: Collection[Partition]) -> None:
        self._database.execute(_REOPEN, {"batch": as_json(list(partitions))})

    def reopened(self, shard: int) -> dict[str, Partition]:
        return {
            str(id_): Partition(minute, shard) for id_, minute in self._database.ask(_REOPENED, {"shard": shard})
        }

    def forget_reopened(self, shard: int, ids: Collection[str]) -> None:
        self._database.execute(_FORGET, {"shard": shard, "ids": as_json(list(ids))})
