"""The timetable in SQLite: see ports.Timetable."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import Any

from chronoshard.adapters.sqlite.database import Database
from chronoshard.adapters.sqlite.query import Query, as_json, flag
from chronoshard.domain.attempt import (
    AskCancel,
    Change,
    Claim,
    Dismiss,
    End,
    Move,
    OweAgain,
    Plan,
    Row,
    is_done,
    is_possible,
)
from chronoshard.domain.identity import MINUTE_MS, AttemptKey, Partition, shard_of
from chronoshard.domain.liveness import Incarnation

_ROW = f"""json_object(
    'key', json_array(t.due_ms, t.job_id, t.nominal_ms, t.origin, t.attempt),
    'owner', t.owner, 'cause', t.cause, 'generation', t.generation, 'ordinal', t.ordinal,
    'retries', t.retries, 'requeues', t.requeues, 'state', t.state, 'reason', t.reason, 'claim', t.claim,
    'executor', t.executor, 'incarnation', t.incarnation, 'generation_ran', t.generation_ran,
    'started_ms', t.started_ms, 'finished_ms', t.finished_ms, 'exit_code', t.exit_code, 'error', t.error,
    'output', json(t.output), 'next_due_ms', t.next_due_ms, 'next_cause', t.next_cause,
    'next_generation', t.next_generation,
    'cancel_requested', {flag("t.cancel_requested")}, 'followed', {flag("t.followed")})"""

# What is there keeps everything that happened to it: a row is only ever made once.
_INSERT = """
INSERT OR IGNORE INTO timetable
    (shard, due_ms, job_id, nominal_ms, origin, attempt, owner, cause, generation, ordinal, retries, requeues)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7,
    value ->> 8, value ->> 9, value ->> 10, value ->> 11
FROM json_each(:batch)"""

_PAGE = Query(
    f"""
SELECT json_group_array(json(row)) FROM (
    SELECT {_ROW} AS row FROM timetable t
    WHERE t.shard = :shard AND t.due_ms >= :from_ms AND t.due_ms < :until_ms
        AND (t.due_ms, t.job_id, t.nominal_ms, t.origin, t.attempt)
            > (:from_ms, :job_id, :nominal_ms, :origin, :attempt)
    ORDER BY t.due_ms, t.job_id, t.nominal_ms, t.origin, t.attempt LIMIT :limit)""",
    list[Row],
)

_AT = """t.shard = k.value ->> 0 AND t.due_ms = k.value ->> 1 AND t.job_id = k.value ->> 2
    AND t.nominal_ms = k.value ->> 3 AND t.origin = k.value ->> 4 AND t.attempt = k.value ->> 5"""

_ROWS = Query(
    f"SELECT json_group_array(json({_ROW})) FROM json_each(:keys) k CROSS JOIN timetable t ON {_AT}", list[Row]
)

_RUNNING_ON = Query(
    f"""
SELECT json_group_array(json({_ROW})) FROM json_each(:incarnations) k CROSS JOIN timetable t
    ON t.incarnation = k.value ->> 1 AND t.state = 'RUNNING' AND t.executor = k.value ->> 0""",
    list[Row],
)

_FOLLOW = f"UPDATE timetable AS t SET followed = 1 FROM (SELECT value FROM json_each(:keys)) AS k WHERE {_AT}"

# Each item is the row's place and the change. The place comes from the item in full: a constant shard would let
# the planner walk through the shard instead of looking each row up.
_KEYED = f"FROM (SELECT value FROM json_each(:batch)) AS k WHERE {_AT}"


def _of(*columns: str) -> str:
    return ", ".join(f"{column} = k.value ->> '$[6].{column}'" for column in columns)


# Each names the state that it comes from: a row in another one is not touched, and the whole batch with it.
_CHANGES: dict[type[Change], str] = {
    Claim: f"""UPDATE timetable AS t
        SET state = 'RUNNING', claim = k.value ->> '$[6].token', {_of("executor", "incarnation", "started_ms")}
        {_KEYED} AND t.state IS NULL AND t.claim IS NULL""",
    Dismiss: f"""UPDATE timetable AS t SET claim = k.value ->> '$[6].token', {_of("state", "reason", "finished_ms")}
        {_KEYED} AND t.state IS NULL AND t.claim IS NULL""",
    Move: f"""UPDATE timetable AS t
        SET claim = k.value ->> '$[6].new_token', {_of("executor", "incarnation", "started_ms")}
        {_KEYED} AND t.state = 'RUNNING' AND t.claim = k.value ->> '$[6].token'""",
    # What the end does not know (when it started) stays as the claim wrote it.
    End: f"""UPDATE timetable AS t
        SET output = k.value ->> '$[6].output', started_ms = ifnull(k.value ->> '$[6].started_ms', t.started_ms),
        {_of("state", "finished_ms", "generation_ran", "reason")},
        {_of("exit_code", "error", "next_due_ms", "next_cause")}
        {_KEYED} AND t.state = 'RUNNING' AND t.claim = k.value ->> '$[6].token'""",
    AskCancel: f"UPDATE timetable AS t SET cancel_requested = 1 {_KEYED} AND t.state = 'RUNNING'",
    OweAgain: f"""UPDATE timetable AS t SET {_of("next_due_ms", "next_cause", "next_generation")}
        {_KEYED} AND t.state = k.value ->> '$[6].state' AND t.next_due_ms IS NULL""",
}


class SqliteTimetable:
    def __init__(self, database: Database, *, shards: int) -> None:
        self._database = database
        self._shards = shards

    def insert(self, plans: Sequence[Plan]) -> None:
        batch = [
            (
                *self._place(plan.key),
                plan.owner,
                plan.cause,
                plan.generation,
                plan.ordinal,
                plan.retries,
                plan.requeues,
            )
            for plan in plans
        ]
        self._database.execute(_INSERT, {"batch": as_json(batch)})

    def page(self, partition: Partition, *, after: AttemptKey | None, limit: int) -> list[Row]:
        start_ms = partition.minute * MINUTE_MS
        first = after if after is not None else AttemptKey(start_ms - 1, "", 0, 0, 0)
        if first.due_ms < start_ms:
            first = AttemptKey(start_ms, "", 0, 0, 0)
        return self._database.ask(
            _PAGE,
            {
                "shard": partition.shard,
                "from_ms": first.due_ms,
                "until_ms": start_ms + MINUTE_MS,
                "job_id": first.job_id,
                "nominal_ms": first.nominal_ms,
                "origin": first.origin,
                "attempt": first.attempt,
                "limit": limit,
            },
        )

    def rows(self, keys: Sequence[AttemptKey]) -> list[Row | None]:
        return _in_order(keys, self._database.ask(_ROWS, self._places(keys))) if keys else []

    def apply(self, partition: Partition, changes: Sequence[Change]) -> list[Row | None] | None:
        try:
            self._database.write(lambda connection: self._apply(connection, changes))
        except _Refused:
            return self._database.write(lambda connection: self._look_and_apply(connection, changes))
        return None

    def follow(self, keys: Sequence[AttemptKey]) -> None:
        if keys:
            self._database.execute(_FOLLOW, {"keys": as_json([self._place(key) for key in keys])})

    def running_on(self, incarnations: Collection[Incarnation]) -> list[Row]:
        if not incarnations:
            return []
        return self._database.ask(_RUNNING_ON, {"incarnations": as_json(list(incarnations))})

    def _place(self, key: AttemptKey) -> tuple[Any, ...]:
        return (
            shard_of(key.job_id, self._shards),
            key.due_ms,
            key.job_id,
            key.nominal_ms,
            key.origin,
            key.attempt,
        )

    def _places(self, keys: Sequence[AttemptKey]) -> dict[str, str]:
        return {"keys": as_json([self._place(key) for key in keys])}

    def _apply(self, connection: sqlite3.Connection, changes: Sequence[Change]) -> None:
        """Apply all, or raise _Refused, which undoes what was applied."""
        kinds: dict[type[Change], list[tuple[Any, ...]]] = {}
        for change in changes:
            kinds.setdefault(type(change), []).append((*self._place(change.key), change))
        for kind, items in kinds.items():
            if connection.execute(_CHANGES[kind], {"batch": as_json(items)}).rowcount != len(items):
                raise _Refused

    def _look_and_apply(
        self, connection: sqlite3.Connection, changes: Sequence[Change]
    ) -> list[Row | None] | None:
        """Apply what was not applied before; when anything is refused nothing, and return the rows."""
        keys = [change.key for change in changes]
        rows = _in_order(keys, _ROWS.run(connection, self._places(keys)))
        pending: list[Change] = []
        for change, row in zip(changes, rows, strict=True):
            if row is None or not (is_done(change, row) or is_possible(change, row)):
                return rows
            if not is_done(change, row):
                pending.append(change)
        self._apply(connection, pending)
        return None


class _Refused(Exception):
    """A row was not in the state that its change comes from."""


def _in_order(keys: Sequence[AttemptKey], found: list[Row]) -> list[Row | None]:
    by_key = {row.key: row for row in found}
    return [by_key.get(key) for key in keys]
