"""Heads, specs, names, intents, requests in SQLite: see ports.Jobs."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from chronoshard.adapters.sqlite.database import Database
from chronoshard.adapters.sqlite.query import Query, as_json
from chronoshard.domain.identity import SCHEDULE, Run, shard_of
from chronoshard.domain.job import Head, Intent, Request, Skipped, Spec

_INSERT_HEADS = """
INSERT OR IGNORE INTO heads (shard, job_id, owner, generation, status, live_run, body)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value -> 6
FROM json_each(:batch)"""
_INSERT_SPECS = """
INSERT OR IGNORE INTO specs (job, generation, body)
SELECT h.id, k.value ->> 2, k.value -> 3 FROM json_each(:batch) k CROSS JOIN heads h
    ON h.shard = k.value ->> 0 AND h.job_id = k.value ->> 1"""

_HEAD = "json_array(h.live_run, json(h.body))"
_Found = list[tuple[str | None, Head]]
_HEADS = Query(
    f"""SELECT json_group_array({_HEAD}) FROM json_each(:batch) k CROSS JOIN heads h
    ON h.shard = k.value ->> 0 AND h.job_id = k.value ->> 1""",
    _Found,
)
_SCAN = Query(
    f"""SELECT json_group_array(json(one)) FROM (SELECT {_HEAD} AS one FROM heads h
    WHERE h.shard = :shard AND h.job_id > :after ORDER BY h.job_id LIMIT :limit)""",
    _Found,
)
_OF_OWNER = Query(
    f"""SELECT json_group_array(json(one)) FROM (SELECT {_HEAD} AS one FROM heads h
    WHERE h.owner = :owner AND h.status <> 'deleted' AND h.job_id < :before ORDER BY h.job_id DESC LIMIT :limit)""",
    _Found,
)
_CHANGE = """UPDATE heads SET owner = :owner, generation = :generation, status = :status, body = :body
    WHERE shard = :shard AND job_id = :job_id AND generation = :expected"""
_LIVE_RUN = """UPDATE heads SET live_run = :run_id
    WHERE shard = :shard AND job_id = :job_id AND (live_run IS :expected OR live_run IS :run_id)"""
_SPECS = Query(
    """SELECT json_group_array(json(s.body)) FROM json_each(:batch) k
    CROSS JOIN heads h ON h.shard = k.value ->> 0 AND h.job_id = k.value ->> 1
    CROSS JOIN specs s ON s.job = h.id AND s.generation = k.value ->> 2""",
    list[Spec],
)
_BY_NAME = Query(
    "SELECT json_quote(job_id) FROM names WHERE owner = :owner AND name = :name",
    str | None,  # type: ignore[arg-type]
)
_INTENTS = Query("SELECT json_group_array(json(body)) FROM intents WHERE minute = :minute", list[Intent])
_REQUESTS = Query(
    """SELECT json_group_array(json(r.body)) FROM json_each(:batch) k
    CROSS JOIN requests r ON r.job_id = k.value ->> 0 AND r.origin = k.value ->> 1""",
    list[Request],
)
_REQUESTS_OF = Query(
    """SELECT json_group_array(json(body)) FROM (SELECT body FROM requests
    WHERE job_id = :job_id AND nominal_ms < :before_ms ORDER BY nominal_ms DESC LIMIT :limit)""",
    list[Request],
)
_SKIPPED = Query(
    """SELECT json_group_array(json_object('job_id', job_id, 'from_ms', from_ms, 'until_ms', until_ms,
    'reason', reason)) FROM
    (SELECT * FROM skipped WHERE job_id = :job_id ORDER BY from_ms, until_ms)""",
    list[Skipped],
)
_INSERT_INTENTS = """INSERT OR REPLACE INTO intents (minute, job_id, generation, body)
    SELECT value ->> 'minute', value ->> 'job_id', value ->> 'generation', value FROM json_each(:batch)"""
_FORGET_INTENTS = """DELETE FROM intents WHERE (minute, job_id, generation) IN
    (SELECT value ->> 'minute', value ->> 'job_id', value ->> 'generation' FROM json_each(:batch))"""
_INSERT_REQUESTS = """INSERT OR IGNORE INTO requests (job_id, origin, nominal_ms, body)
    SELECT value ->> 'job_id', value ->> 'origin', value ->> 'nominal_ms', value FROM json_each(:batch)"""
_INSERT_SKIPPED = """INSERT OR IGNORE INTO skipped (job_id, from_ms, until_ms, reason)
    SELECT value ->> 'job_id', value ->> 'from_ms', value ->> 'until_ms', value ->> 'reason' FROM json_each(:batch)"""


class SqliteJobs:
    def __init__(self, database: Database, *, shards: int) -> None:
        self._database = database
        self._shards = shards

    def insert(self, jobs: Sequence[tuple[Head, Spec]]) -> None:
        self._database.write(lambda connection: self._insert(connection, jobs))

    def create(self, head: Head, spec: Spec) -> Head:
        self.insert([(head, spec)])
        return self.heads([head.job_id])[head.job_id]

    def heads(self, job_ids: Collection[str]) -> dict[str, Head]:
        found = self._database.ask(_HEADS, {"batch": as_json([self._place(job_id) for job_id in job_ids])})
        return {head.job_id: head for head in _with_live_run(found)}

    def change(self, head: Head, spec: Spec | None, *, expected_generation: int) -> bool:
        if self._database.write(lambda connection: self._change(connection, head, spec, expected_generation)):
            return True
        now = self.heads([head.job_id]).get(head.job_id)
        return now is not None and msgspec.structs.replace(now, live_run=head.live_run) == head

    def set_live_run(self, job_id: str, *, expected: str | None, run_id: str | None) -> bool:
        parameters = {**self._at(job_id), "expected": expected, "run_id": run_id}
        return self._database.execute(_LIVE_RUN, parameters) > 0

    def specs(self, wanted: Collection[tuple[str, int]]) -> dict[tuple[str, int], Spec]:
        batch = [(*self._place(job_id), generation) for job_id, generation in wanted]
        found = self._database.ask(_SPECS, {"batch": as_json(batch)})
        return {(spec.job_id, spec.generation): spec for spec in found}

    def scan(self, shard: int, *, after: str, limit: int) -> list[Head]:
        return _with_live_run(self._database.ask(_SCAN, {"shard": shard, "after": after, "limit": limit}))

    def of_owner(self, owner: str, *, before: str, limit: int) -> list[Head]:
        parameters = {"owner": owner, "before": before or "~", "limit": limit}
        return _with_live_run(self._database.ask(_OF_OWNER, parameters))

    def take_name(self, owner: str, name: str, job_id: str) -> str:
        parameters = {"owner": owner, "name": name, "job_id": job_id}
        self._database.execute("INSERT OR IGNORE INTO names VALUES (:owner, :name, :job_id)", parameters)
        return self.by_name(owner, name) or job_id

    def drop_name(self, owner: str, name: str, job_id: str) -> None:
        self._database.execute(
            "DELETE FROM names WHERE owner = :owner AND name = :name AND job_id = :job_id",
            {"owner": owner, "name": name, "job_id": job_id},
        )

    def by_name(self, owner: str, name: str) -> str | None:
        return self._database.ask(_BY_NAME, {"owner": owner, "name": name})

    def intend(self, intents: Sequence[Intent]) -> None:
        self._database.execute(_INSERT_INTENTS, {"batch": as_json(intents)})

    def intents(self, minute: int) -> list[Intent]:
        return self._database.ask(_INTENTS, {"minute": minute})

    def forget_intents(self, intents: Sequence[Intent]) -> None:
        self._database.execute(_FORGET_INTENTS, {"batch": as_json(intents)})

    def request(self, requests: Sequence[Request]) -> list[Request]:
        self._database.execute(_INSERT_REQUESTS, {"batch": as_json(requests)})
        batch = [(one.job_id, one.origin) for one in requests]
        found = {(one.job_id, one.origin): one for one in self._database.ask(_REQUESTS, {"batch": as_json(batch)})}
        return [found[one] for one in batch]

    def requests(self, runs: Collection[Run]) -> dict[Run, Request]:
        batch = [(run.job_id, run.origin) for run in runs if run.origin != SCHEDULE]
        found = self._database.ask(_REQUESTS, {"batch": as_json(batch)})
        by_run = {Run(one.job_id, one.nominal_ms, one.origin): one for one in found}
        return {run: by_run[run] for run in runs if run in by_run}

    def requests_of(self, job_id: str, *, before_ms: int, limit: int) -> list[Request]:
        return self._database.ask(_REQUESTS_OF, {"job_id": job_id, "before_ms": before_ms, "limit": limit})

    def skip(self, ranges: Sequence[Skipped]) -> None:
        self._database.execute(_INSERT_SKIPPED, {"batch": as_json(ranges)})

    def skipped(self, job_id: str) -> list[Skipped]:
        return self._database.ask(_SKIPPED, {"job_id": job_id})

    def _change(
        self, connection: sqlite3.Connection, head: Head, spec: Spec | None, expected_generation: int
    ) -> bool:
        """Write head and spec, or neither: of two edits of one generation only the winner's spec is kept."""
        parameters = {
            **self._at(head.job_id),
            "owner": head.owner,
            "generation": head.generation,
            "status": head.status,
            "body": _body(head),
            "expected": expected_generation,
        }
        if connection.execute(_CHANGE, parameters).rowcount == 0:
            return False
        if spec is not None:
            self._insert_specs(connection, [spec])
        return True

    def _insert(self, connection: sqlite3.Connection, jobs: Sequence[tuple[Head, Spec]]) -> None:
        batch = [
            (
                *self._place(head.job_id),
                head.owner,
                head.generation,
                head.status,
                head.live_run,
                msgspec.Raw(_body(head).encode()),
            )
            for head, _ in jobs
        ]
        connection.execute(_INSERT_HEADS, {"batch": as_json(batch)})
        self._insert_specs(connection, [spec for _, spec in jobs])

    def _insert_specs(self, connection: sqlite3.Connection, specs: Sequence[Spec]) -> None:
        batch = [(*self._place(spec.job_id), spec.generation, spec) for spec in specs]
        connection.execute(_INSERT_SPECS, {"batch": as_json(batch)})

    def _place(self, job_id: str) -> tuple[int, str]:
        return shard_of(job_id, self._shards), job_id

    def _at(self, job_id: str) -> dict[str, Any]:
        return {"shard": shard_of(job_id, self._shards), "job_id": job_id}


def _body(head: Head) -> str:
    """Return what is kept of a head; `live_run` changes by itself and is kept apart."""
    return as_json(msgspec.structs.replace(head, live_run=None))


def _with_live_run(found: _Found) -> list[Head]:
    return [
        head if live_run is None else msgspec.structs.replace(head, live_run=live_run) for live_run, head in found
    ]
