"""What stands around heads in SQLite, and with them is ports.Jobs: names, intents, requests, skipped ranges."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence

from chronoshard.adapters.sqlite.heads import SqliteHeads
from chronoshard.adapters.sqlite.query import ITEMS, Query, array, as_json, cells
from chronoshard.domain.identity import Run
from chronoshard.domain.job import Intent, Request, Skipped

_TAKE_NAMES = f"""
INSERT INTO names (owner, name, job_id) SELECT {cells("[0]", "[1]", "[2]")} FROM {ITEMS} WHERE true
ON CONFLICT DO NOTHING"""
_DROP_NAME = "DELETE FROM names WHERE owner = :owner AND name = :name AND job_id = :job_id"
_HOLDERS = Query(
    f"""
SELECT json_group_array(job_id) FROM {ITEMS} CROSS JOIN names
    ON owner = item.value ->> '$[0]' AND name = item.value ->> '$[1]'""",
    list[str],
)

_INTEND = f"""
INSERT INTO intents (minute, job_id, generation, body)
SELECT {cells("minute", "job_id", "generation")}, item.value FROM {ITEMS} WHERE true
ON CONFLICT DO UPDATE SET body = excluded.body"""
_INTENTS = Query(f"SELECT {array('body')} FROM intents WHERE minute = :minute", list[Intent])
_FORGET_INTENTS = f"""
DELETE FROM intents
WHERE (minute, job_id, generation) IN (SELECT {cells("minute", "job_id", "generation")} FROM {ITEMS})"""

# The first request of an origin stays: whoever repeats it finds that one.
_REQUEST = f"""
INSERT INTO requests (job_id, origin, nominal_ms, body)
SELECT {cells("job_id", "origin", "nominal_ms")}, item.value FROM {ITEMS} WHERE true
ON CONFLICT DO NOTHING"""
_REQUESTS = Query(
    f"""
SELECT {array("body")} FROM {ITEMS} CROSS JOIN requests
    ON job_id = item.value ->> '$[0]' AND origin = item.value ->> '$[1]'""",
    list[Request],
)
_REQUESTS_OF = Query(
    f"""
SELECT {array("body")} FROM (
    SELECT body FROM requests WHERE job_id = :job_id AND nominal_ms < :before_ms
    ORDER BY nominal_ms DESC, id DESC LIMIT :limit)""",
    list[Request],
)

_SKIP = f"""
INSERT INTO skipped (job_id, from_ms, until_ms, reason)
SELECT {cells("job_id", "from_ms", "until_ms", "reason")} FROM {ITEMS} WHERE true
ON CONFLICT DO NOTHING"""
_SKIPPED = Query(
    """
SELECT json_group_array(json_object('job_id', job_id, 'from_ms', from_ms, 'until_ms', until_ms, 'reason', reason))
FROM (SELECT * FROM skipped WHERE job_id = :job_id ORDER BY from_ms, until_ms LIMIT -1)""",
    list[Skipped],
)


class SqliteJobs(SqliteHeads):
    def take_name(self, owner: str, name: str, job_id: str) -> str:
        [holder] = self.take_names([(owner, name, job_id)])
        return holder

    def take_names(self, wanted: Sequence[tuple[str, str, str]]) -> list[str]:
        """Give each free name to its job, all in one write; return the jobs that have them now.

        `wanted` holds (owner, name, job id).
        """
        if not wanted:
            return []
        parameters = {"batch": as_json(wanted)}

        def take(connection: sqlite3.Connection) -> list[str]:
            connection.execute(_TAKE_NAMES, parameters)
            return _HOLDERS.run(connection, parameters)

        return self._database.write(take)

    def drop_name(self, owner: str, name: str, job_id: str) -> None:
        self._database.execute(_DROP_NAME, {"owner": owner, "name": name, "job_id": job_id})

    def by_name(self, owner: str, name: str) -> str | None:
        holders = self._database.ask(_HOLDERS, {"batch": as_json([(owner, name)])})
        return holders[0] if holders else None

    def intend(self, intents: Sequence[Intent]) -> None:
        if intents:
            self._database.execute(_INTEND, {"batch": as_json(intents)})

    def intents(self, minute: int) -> list[Intent]:
        return self._database.ask(_INTENTS, {"minute": minute})

    def forget_intents(self, intents: Sequence[Intent]) -> None:
        if intents:
            self._database.execute(_FORGET_INTENTS, {"batch": as_json(intents)})

    def request(self, requests: Sequence[Request]) -> list[Request]:
        if not requests:
            return []
        self._database.execute(_REQUEST, {"batch": as_json(requests)})
        origins = [(request.job_id, request.origin) for request in requests]
        found = self._by_origin(origins)
        return [found[origin] for origin in origins]

    def requests(self, runs: Collection[Run]) -> dict[Run, Request]:
        if not runs:
            return {}
        found = self._by_origin([(run.job_id, run.origin) for run in runs])
        by_run = {Run(one.job_id, one.nominal_ms, one.origin): one for one in found.values()}
        return {run: by_run[run] for run in runs if run in by_run}

    def requests_of(self, job_id: str, *, before_ms: int, limit: int) -> list[Request]:
        return self._database.ask(_REQUESTS_OF, {"job_id": job_id, "before_ms": before_ms, "limit": limit})

    def skip(self, ranges: Sequence[Skipped]) -> None:
        if ranges:
            self._database.execute(_SKIP, {"batch": as_json(ranges)})

    def skipped(self, job_id: str) -> list[Skipped]:
        return self._database.ask(_SKIPPED, {"job_id": job_id})

    def _by_origin(self, origins: list[tuple[str, int]]) -> dict[tuple[str, int], Request]:
        found = self._database.ask(_REQUESTS, {"batch": as_json(origins)})
        return {(request.job_id, request.origin): request for request in found}
