"""What has ended, in SQLite: see ports.History."""

from __future__ import annotations

from collections.abc import Sequence

from chronoshard.adapters.sqlite.database import Database
from chronoshard.adapters.sqlite.query import ITEMS, Query, as_json, cells
from chronoshard.domain.history import HistoryRow
from chronoshard.domain.identity import Run

# Columns are named like the fields; only `run` is three of them.
_FIELDS = HistoryRow.__struct_fields__[1:]
_KEY = ("job_id", "nominal_ms", "origin", "attempt")

# The same whoever writes it, so the first stays; only what a user's retry owes comes later, and stays as well.
_INSERT = f"""
INSERT INTO history (job_id, nominal_ms, origin, {", ".join(_FIELDS)})
SELECT {cells("run[0]", "run[1]", "run[2]", *_FIELDS)} FROM {ITEMS} WHERE true
ON CONFLICT ({", ".join(_KEY)}) DO UPDATE SET next_due_ms = excluded.next_due_ms
    WHERE next_due_ms IS NULL AND excluded.next_due_ms IS NOT NULL"""

_CELLS = ", ".join(f"'{field}', {'json(output)' if field == 'output' else field}" for field in _FIELDS)
_ROW = f"json_object('run', json_array(job_id, nominal_ms, origin), {_CELLS})"

_OF_JOB = Query(
    f"""
SELECT json_group_array({_ROW}) FROM (
    SELECT * FROM history
    WHERE job_id = :job_id AND (nominal_ms, origin, attempt) < (:nominal_ms, :origin, :attempt)
    ORDER BY nominal_ms DESC, origin DESC, attempt DESC LIMIT :limit)""",
    list[HistoryRow],
)
_OF_RUN = Query(
    f"""
SELECT json_group_array({_ROW}) FROM (
    SELECT * FROM history
    WHERE job_id = :job_id AND nominal_ms = :nominal_ms AND origin = :origin ORDER BY attempt LIMIT -1)""",
    list[HistoryRow],
)
_NEWEST = (2**63 - 1, 0, 0)


class SqliteHistory:
    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, rows: Sequence[HistoryRow]) -> None:
        if rows:
            self._database.execute(_INSERT, {"batch": as_json(rows)})

    def of_job(self, job_id: str, *, before: HistoryRow | None, limit: int) -> list[HistoryRow]:
        nominal_ms, origin, attempt = before.order if before is not None else _NEWEST
        parameters = {"job_id": job_id, "nominal_ms": nominal_ms, "origin": origin, "attempt": attempt}
        return self._database.ask(_OF_JOB, {**parameters, "limit": limit})

    def of_run(self, run: Run) -> list[HistoryRow]:
        return self._database.ask(_OF_RUN, run._asdict())
