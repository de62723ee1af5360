"""The six ways in which a row changes, each one statement for a whole batch.

Each names the state it comes from, so a row that is not in it is not touched, and one that is not there is not made
(here a row is there only when it was made, so `made` needs no condition).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from chronoshard.adapters.sqlite.query import as_json
from chronoshard.adapters.sqlite.rows import same_key
from chronoshard.domain.attempt import AskCancel, Change, Claim, Dismiss, End, Move, OweAgain

_HERE = f"""
FROM (
    WITH one AS MATERIALIZED (SELECT value FROM json_each(:batch)) SELECT :shard AS shard, value FROM one
) AS item
WHERE {same_key("$.key")}"""


def _set(**columns: str) -> str:
    """Return the SET clause that fills columns from these fields of a change."""
    return "SET " + ", ".join(f"{column} = item.value ->> '$.{field}'" for column, field in columns.items())


def _same(*fields: str) -> dict[str, str]:
    return {field: field for field in fields}


_DUE = "state IS NULL AND claim IS NULL"
_MINE = "state = 'RUNNING' AND claim = item.value ->> '$.token'"
_PLACE = _same("executor", "incarnation", "started_ms")
_RESULT = _same("state", "finished_ms", "generation_ran", "reason", "exit_code", "error", "output")
_OWED = _same("next_due_ms", "next_cause")

STATEMENTS: dict[type[Change], str] = {
    Claim: f"UPDATE timetable {_set(claim='token', **_PLACE)}, state = 'RUNNING' {_HERE} AND {_DUE}",
    Dismiss: f"""
        UPDATE timetable {_set(claim="token", **_same("state", "reason", "finished_ms"))}
        {_HERE} AND {_DUE}""",
    Move: f"UPDATE timetable {_set(claim='new_token', **_PLACE)} {_HERE} AND {_MINE}",
    # What the end does not know (when it started) stays as the claim wrote it.
    End: f"""
        UPDATE timetable {_set(**_RESULT, **_OWED)},
            started_ms = ifnull(item.value ->> '$.started_ms', started_ms)
        {_HERE} AND {_MINE}""",
    AskCancel: f"UPDATE timetable SET cancel_requested = 1 {_HERE} AND state = 'RUNNING'",
    # A user's retry comes too late when another one was faster.
    OweAgain: f"""
        UPDATE timetable {_set(**_OWED, next_generation="next_generation")}
        {_HERE} AND state = item.value ->> '$.state' AND next_due_ms IS NULL""",
}


class Refused(Exception):
    """A row was not in the state that its change comes from. Undoes the transaction."""


def apply(connection: sqlite3.Connection, shard: int, changes: Sequence[Change]) -> None:
    """Apply all changes; raise Refused when one cannot be."""
    kinds: dict[type[Change], list[Change]] = {}
    for change in changes:
        kinds.setdefault(type(change), []).append(change)
    for kind, batch in kinds.items():
        parameters = {"shard": shard, "batch": as_json(batch)}
        if connection.execute(STATEMENTS[kind], parameters).rowcount != len(batch):
            raise Refused
