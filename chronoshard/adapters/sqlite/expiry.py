"""Removes what is past its retention, a little at a time."""

from __future__ import annotations

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


_TIMETABLE = """
DELETE FROM timetable WHERE (shard, due_ms, job_id, nominal_ms, origin, attempt) IN (
    SELECT shard, due_ms, job_id, nominal_ms, origin, attempt FROM timetable
    WHERE shard = :shard AND due_ms < :before_ms AND followed = 1 LIMIT :limit)"""
_MINUTES = "DELETE FROM minutes WHERE shard = :shard AND minute < :before_minute"
_OLDEST = {
    "history": "DELETE FROM history WHERE id IN (SELECT id FROM history WHERE finished_ms < :before_ms"
    " AND id < (SELECT min(id) FROM history) + :limit)",
    "answers": "DELETE FROM answers WHERE id IN (SELECT id FROM answers WHERE taken_ms < :before_ms LIMIT :limit)",
    "requests": "DELETE FROM requests WHERE id IN (SELECT id FROM requests WHERE nominal_ms < :before_ms"
    " AND id < (SELECT min(id) FROM requests) + :limit)",
}


def expire(database: Database, retention: Retention, *, now_ms: int, limit: int) -> int:
    """Remove at most about `limit` rows of each kind; return how many."""
    timetable_ms = now_ms - retention.timetable_days * DAY_MS
    history_ms = now_ms - retention.history_days * DAY_MS
    removed = 0
    with database.write() as connection:
        shards = [shard for (shard,) in connection.execute("SELECT DISTINCT shard FROM minutes")]
        for shard in shards:
            removed += connection.execute(
                _TIMETABLE, {"shard": shard, "before_ms": timetable_ms, "limit": limit // len(shards) + 1}
            ).rowcount
            removed += connection.execute(
                _MINUTES, {"shard": shard, "before_minute": timetable_ms // MINUTE_MS}
            ).rowcount
        for table, before_ms in (
            ("history", history_ms),
            ("requests", history_ms),
            ("answers", now_ms - retention.answer_days * DAY_MS),
        ):
            removed += connection.execute(_OLDEST[table], {"before_ms": before_ms, "limit": limit}).rowcount
        before_minute = (now_ms - retention.intent_days * DAY_MS) // MINUTE_MS
        removed += connection.execute(
            "DELETE FROM intents WHERE minute < :before", {"before": before_minute}
        ).rowcount
    return removed
