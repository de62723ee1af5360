"""Removes what is past its retention, a bounded number of rows at a time.

Only rows that need nobody any more leave the timetable, however old the others are. Tables with an id of their own
are in the order in which they were written, so what is too old stands first and nothing else is looked at.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from chronoshard.adapters.sqlite.database import Database
from chronoshard.domain.identity import MINUTE_MS

DAY_MS = 86_400_000


class Retention(NamedTuple):
    """For how many days what is kept. Answers are kept longer than the contract's 24 hours."""

    timetable_days: int = 7
    history_days: int = 180
    answer_days: int = 2
    intent_days: int = 2


_SETTLED = """
DELETE FROM timetable WHERE (shard, due_ms, job_id, nominal_ms, origin, attempt) IN (
    SELECT shard, due_ms, job_id, nominal_ms, origin, attempt FROM timetable
    WHERE shard = :shard AND due_ms < :before AND followed = 1 AND state <> 'RUNNING' LIMIT :limit)"""
_MINUTES = """
DELETE FROM minutes WHERE (shard, minute) IN (
    SELECT shard, minute FROM minutes WHERE shard = :shard AND minute < :before AND settled = 1 LIMIT :limit)"""
_INTENTS = """
DELETE FROM intents WHERE (minute, job_id, generation) IN (
    SELECT minute, job_id, generation FROM intents WHERE minute < :before LIMIT :limit)"""
_BEATS = """
DELETE FROM beats WHERE (executor, incarnation) IN (
    SELECT executor, incarnation FROM beats WHERE recorded_ms < :before LIMIT :limit)"""


def _oldest(table: str, time: str) -> str:
    """Return what removes the first rows of a table, up to the first that is young enough."""
    first = f"SELECT id, {time} AS time FROM {table} ORDER BY id LIMIT :limit"
    young = f"SELECT min(id) FROM ({first}) WHERE time >= :before"
    return f"""
DELETE FROM {table} WHERE id IN (SELECT id FROM ({first})) AND id < ifnull(({young}), {2**63 - 1})"""


_HISTORY = _oldest("history", "finished_ms")
_REQUESTS = _oldest("requests", "nominal_ms")
_SKIPPED = _oldest("skipped", "until_ms")
_ANSWERS = _oldest("answers", "taken_ms")


def expire(database: Database, retention: Retention, *, shards: int, now_ms: int, limit: int) -> int:
    """Remove at most `limit` rows; return how many."""
    timetable_ms = now_ms - retention.timetable_days * DAY_MS
    history_ms = now_ms - retention.history_days * DAY_MS
    steps: list[tuple[str, int, int]] = []  # statement, shard, limit of age
    for shard in range(shards):
        steps.append((_SETTLED, shard, timetable_ms))
        steps.append((_MINUTES, shard, timetable_ms // MINUTE_MS))
    steps += [
        (_HISTORY, 0, history_ms),
        (_REQUESTS, 0, history_ms),
        (_SKIPPED, 0, history_ms),
        (_ANSWERS, 0, now_ms - retention.answer_days * DAY_MS),
        (_INTENTS, 0, (now_ms - retention.intent_days * DAY_MS) // MINUTE_MS),
        (_BEATS, 0, timetable_ms),
    ]

    def remove(connection: sqlite3.Connection) -> int:
        removed = 0
        for sql, shard, before in steps:
            parameters = {"shard": shard, "before": before, "limit": limit - removed}
            removed += connection.execute(sql, parameters).rowcount
        return removed

    return database.write(remove)
