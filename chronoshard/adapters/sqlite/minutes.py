"""The ledger's marks in SQLite: see ports.Minutes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from chronoshard.adapters.sqlite.database import Database
from chronoshard.adapters.sqlite.query import ITEMS, Query, as_body, as_json, cell, cells, flag
from chronoshard.domain.identity import Partition
from chronoshard.domain.ledger import Mark, Totals

_MARK_CLOSING = f"""
INSERT INTO minutes (minute, shard, closing) SELECT {cells("[0]", "[1]")}, 1 FROM {ITEMS} WHERE true
ON CONFLICT (shard, minute) DO UPDATE SET closing = 1"""
_CLOSING = Query(
    f"""
SELECT json_group_array(json_array(minute, shard)) FROM {ITEMS} CROSS JOIN minutes
    ON minute = {cell("[0]")} AND shard = {cell("[1]")} AND closing = 1""",
    list[Partition],
)

# No mark is ever taken back, in whatever order the writers come.
_CLOSE = f"""
INSERT INTO minutes (minute, shard, closing, closed, settled, totals)
SELECT {cells("[0]", "[1]")}, 1, 1, {cells("[2]", "[3]")} FROM {ITEMS} WHERE true
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
_REOPEN = f"INSERT OR REPLACE INTO reopened (minute, shard) SELECT {cells('[0]', '[1]')} FROM {ITEMS}"
_REOPENED = Query(
    """
SELECT json_group_array(json_array(CAST(id AS TEXT), json_array(minute, shard))) FROM reopened
WHERE shard = :shard""",
    list[tuple[str, Partition]],
)
_FORGET = f"DELETE FROM reopened WHERE shard = :shard AND id IN (SELECT CAST(value AS INTEGER) FROM {ITEMS})"


class SqliteMinutes:
    def __init__(self, database: Database) -> None:
        self._database = database

    def mark_closing(self, partitions: Sequence[Partition]) -> None:
        if partitions:
            self._database.execute(_MARK_CLOSING, {"batch": as_json(partitions)})

    def closing(self, partitions: Collection[Partition]) -> set[Partition]:
        return set(self._database.ask(_CLOSING, {"batch": as_json(list(partitions))})) if partitions else set()

    def close(self, totals: Mapping[Partition, Totals]) -> None:
        self._close(totals, settled=0)

    def settle(self, partitions: Mapping[Partition, Totals]) -> None:
        self._close(partitions, settled=1)

    def marks(self, shard: int, *, from_minute: int, until_minute: int) -> dict[int, Mark]:
        parameters = {"shard": shard, "from_minute": from_minute, "until_minute": until_minute}
        return dict(self._database.ask(_MARKS, parameters))

    def reopen(self, partitions: Collection[Partition]) -> None:
        if partitions:
            self._database.execute(_REOPEN, {"batch": as_json(list(partitions))})

    def reopened(self, shard: int) -> dict[str, Partition]:
        return dict(self._database.ask(_REOPENED, {"shard": shard}))

    def forget_reopened(self, shard: int, ids: Collection[str]) -> None:
        if ids:
            self._database.execute(_FORGET, {"shard": shard, "batch": as_json(list(ids))})

    def _close(self, totals: Mapping[Partition, Totals], *, settled: int) -> None:
        if totals:
            batch = [(*partition, settled, as_body(counted)) for partition, counted in totals.items()]
            self._database.execute(_CLOSE, {"batch": as_json(batch)})
