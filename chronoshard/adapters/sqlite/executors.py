"""Beats, drains and kill orders in SQLite: see ports.Executors."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from chronoshard.adapters.sqlite.database import Database
from chronoshard.adapters.sqlite.query import ITEMS, Query, array, as_body, as_json, cells
from chronoshard.clock import Clock
from chronoshard.domain.identity import AttemptKey
from chronoshard.domain.liveness import Incarnation
from chronoshard.link import Beat

_RECORD = """
INSERT INTO beats (executor, incarnation, sequence, recorded_ms, body)
VALUES (:executor, :incarnation, :sequence, :now_ms, :body)
ON CONFLICT (executor, incarnation) DO UPDATE
    SET sequence = excluded.sequence, recorded_ms = excluded.recorded_ms, body = excluded.body
    WHERE excluded.sequence > sequence"""
_BEATS = Query(f"SELECT {array('body')} FROM beats WHERE recorded_ms > :since_ms", list[Beat])

_ORDER = f"""
INSERT INTO kills (executor, incarnation, attempt) SELECT :executor, :incarnation, item.value FROM {ITEMS} WHERE true
ON CONFLICT DO NOTHING"""
_KILLS = Query(
    f"SELECT {array('attempt')} FROM kills WHERE executor = :executor AND incarnation = :incarnation",
    list[AttemptKey],
)

_OVER = f"(executor, incarnation) IN (SELECT {cells('[0]', '[1]')} FROM {ITEMS})"
_FORGET = (f"DELETE FROM beats WHERE {_OVER}", f"DELETE FROM kills WHERE {_OVER}")

_DRAINING = Query("SELECT json_group_array(executor) FROM drains", list[str])


class SqliteExecutors:
    def __init__(self, database: Database, clock: Clock, *, kept_ms: int) -> None:
        """`kept_ms`: a beat older than the timetable's rows is of nobody who may still hold one."""
        self._database = database
        self._clock = clock
        self._kept_ms = kept_ms

    def record(self, beat: Beat) -> None:
        self._database.execute(
            _RECORD,
            {
                "executor": beat.executor,
                "incarnation": beat.incarnation,
                "sequence": beat.sequence,
                "now_ms": self._clock.now_ms(),
                "body": as_body(beat),
            },
        )

    def beats(self) -> list[Beat]:
        return self._database.ask(_BEATS, {"since_ms": self._clock.now_ms() - self._kept_ms})

    def order_kills(self, incarnation: Incarnation, keys: Sequence[AttemptKey]) -> None:
        if keys:
            executor, id_ = incarnation
            self._database.execute(_ORDER, {"executor": executor, "incarnation": id_, "batch": as_json(keys)})

    def kills(self, incarnation: Incarnation) -> list[AttemptKey]:
        return self._database.ask(_KILLS, {"executor": incarnation.executor, "incarnation": incarnation.id})

    def forget(self, incarnations: Collection[Incarnation]) -> None:
        if incarnations:
            parameters = {"batch": as_json(list(incarnations))}
            self._database.write(lambda connection: [connection.execute(sql, parameters) for sql in _FORGET])

    def set_drain(self, executor: str, draining: bool) -> None:
        change = "INSERT OR IGNORE INTO drains VALUES (:executor)"
        if not draining:
            change = "DELETE FROM drains WHERE executor = :executor"
        self._database.execute(change, {"executor": executor})

    def draining(self) -> set[str]:
        return set(self._database.ask(_DRAINING))
