"""What has ended, in SQLite: see ports.History."""

from __future__ import annotations

from collections.abc import Sequence

from chronoshard.adapters.sqlite.database import Database
from chronoshard.adapters.sqlite.query import Query, as_json
from chronoshard.domain.history import HistoryRow
from chronoshard.domain.identity import Run

# The same whoever writes it, so the first stays; only what a user's retry owes comes later, and stays as well.
_INSERT = """
INSERT INTO history (job_id, nominal_ms, origin, attempt, owner, state, cause, due_ms, finished_ms,
    started_ms, generation, executor, exit_code, error, reason, output, next_due_ms)
SELECT value ->> '$.run[0]', value ->> '$.run[1]', value ->> '$.run[2]', value ->> 'attempt', value ->> 'owner',
    value ->> 'state', value ->> 'cause', value ->> 'due_ms', value ->> 'finished_ms', value ->> 'started_ms',
    value ->> 'generation', value ->> 'executor', value ->> 'exit_code', value ->> 'error', value ->> 'reason',
    value -> 'output', value ->> 'next_due_ms'
FROM json_each(:batch) WHERE true
ON CONFLICT (job_id, nominal_ms, origin, attempt) DO UPDATE SET next_due_ms = excluded.next_due_ms
    WHERE next_due_ms IS NULL AND excluded.next_due_ms IS NOT NULL"""

_ROW = """json_object('run', json_array(job_id, nominal_ms, origin), 'attempt', attempt, 'owner', owner,
    'state', state, 'cause', cause, 'due_ms', due_ms, 'finished_ms', finished_ms, 'started_ms', started_ms,
    'generation', generation, 'executor', executor, 'exit_code', exit_code, 'error', error, 'reason', reason,
    'output', json(output), 'next_due_ms', next_due_ms)"""

_OF_JOB = Query(
    f"""SELECT json_group_array(json(one)) FROM (SELECT {_ROW} AS one FROM history
    WHERE job_id = :job_id AND (nominal_ms, origin, attempt) < (:nominal_ms, :origin, :attempt)
    ORDER BY nominal_ms DESC, origin DESC, attempt DESC LIMIT :limit)""",
    list[HistoryRow],
)
_OF_RUN = Query(
    f"""SELECT json_group_array(json(one)) FROM (SELECT {_ROW} AS one FROM history
    WHERE job_id = :job_id AND nominal_ms = :nominal_ms AND origin = :origin ORDER BY attempt)""",
    list[HistoryRow],
)
_END = 2**63 - 1


class SqliteHistory:
    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, rows: Sequence[HistoryRow]) -> None:
        self._database.execute(_INSERT, {"batch": as_json(rows)})

    def of_job(self, job_id: str, *, before: HistoryRow | None, limit: int) -> list[HistoryRow]:
        nominal_ms, origin, attempt = before.order if before is not None else (_END, 0, 0)
        return self._database.ask(
            _OF_JOB,
            {"job_id": job_id, "nominal_ms": nominal_ms, "origin": origin, "attempt": attempt, "limit": limit},
        )

    def of_run(self, run: Run) -> list[HistoryRow]:
        return self._database.ask(
            _OF_RUN, {"job_id": run.job_id, "nominal_ms": run.nominal_ms, "origin": run.origin}
        )
