"""Heads and specs in SQLite: see ports.Jobs. Heads change by compare-and-set, specs never."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from chronoshard.adapters.sqlite.database import Database
from chronoshard.adapters.sqlite.query import ITEMS, Query, array, as_body, as_json, cells
from chronoshard.domain.identity import shard_of
from chronoshard.domain.job import Head, Spec

# One item for each job: shard, job id, owner, generation, status, live run, body, the spec's generation and body.
_INSERT_HEADS = f"""
INSERT INTO heads (shard, job_id, owner, generation, status, live_run, body)
SELECT {cells(*(f"[{n}]" for n in range(7)))} FROM {ITEMS} WHERE true
ON CONFLICT DO NOTHING"""
_INSERT_SPECS = f"""
INSERT INTO specs (job, generation, body)
SELECT heads.id, {cells("[7]", "[8]")} FROM {ITEMS} CROSS JOIN heads
    ON shard = item.value ->> '$[0]' AND job_id = item.value ->> '$[1]'
WHERE true ON CONFLICT DO NOTHING"""

_HEAD = array("'['", "json_quote(live_run)", "','", "body", "']'")
_Found = list[tuple[str | None, Head]]
_HEADS = Query(
    f"""
SELECT {_HEAD} FROM {ITEMS} CROSS JOIN heads
    ON shard = item.value ->> '$[0]' AND job_id = item.value ->> '$[1]'""",
    _Found,
)
_SCAN = Query(
    f"""
SELECT {_HEAD} FROM (
    SELECT * FROM heads WHERE shard = :shard AND job_id > :after ORDER BY job_id LIMIT :limit)""",
    _Found,
)
_OF_OWNER = Query(
    f"""
SELECT {_HEAD} FROM (
    SELECT * FROM heads WHERE owner = :owner AND status <> 'deleted' AND job_id < :before
    ORDER BY job_id DESC LIMIT :limit)""",
    _Found,
)
_CHANGE = """
UPDATE heads SET owner = :owner, generation = :generation, status = :status, body = :body
WHERE shard = :shard AND job_id = :job_id AND generation = :expected"""
_ADD_SPEC = """
INSERT INTO specs (job, generation, body)
SELECT id, :spec_generation, :spec FROM heads WHERE shard = :shard AND job_id = :job_id
ON CONFLICT DO NOTHING"""
_SET_LIVE_RUN = """
UPDATE heads SET live_run = :run_id
WHERE shard = :shard AND job_id = :job_id AND (live_run IS :expected OR live_run IS :run_id)"""
_SPECS = Query(
    f"""
SELECT {array("specs.body")} FROM {ITEMS}
CROSS JOIN heads ON shard = item.value ->> '$[0]' AND job_id = item.value ->> '$[1]'
CROSS JOIN specs ON specs.job = heads.id AND specs.generation = item.value ->> '$[2]'""",
    list[Spec],
)
_ABOVE_ALL = "\U0010ffff"  # above every job id


class SqliteHeads:
    def __init__(self, database: Database, *, shards: int) -> None:
        self._database = database
        self._shards = shards

    def insert(self, jobs: Sequence[tuple[Head, Spec]]) -> None:
        if not jobs:
            return
        parameters = {"batch": as_json([self._cells(head, spec) for head, spec in jobs])}

        def insert(connection: sqlite3.Connection) -> None:
            connection.execute(_INSERT_HEADS, parameters)
            connection.execute(_INSERT_SPECS, parameters)

        self._database.write(insert)

    def create(self, head: Head, spec: Spec) -> Head:
        self.insert([(head, spec)])
        return self.heads([head.job_id])[head.job_id]

    def heads(self, job_ids: Collection[str]) -> dict[str, Head]:
        if not job_ids:
            return {}
        found = self._database.ask(_HEADS, {"batch": as_json([self._place(job_id) for job_id in job_ids])})
        return {head.job_id: head for head in _whole(found)}

    def change(self, head: Head, spec: Spec | None, *, expected_generation: int) -> bool:
        parameters = {
            **self._at(head.job_id),
            "owner": head.owner,
            "generation": head.generation,
            "status": head.status,
            "body": _body(head),
            "expected": expected_generation,
        }

        def change(connection: sqlite3.Connection) -> bool:
            """Write head and spec, or neither: of two edits of one generation only the winner's spec is kept."""
            changed = connection.execute(_CHANGE, parameters).rowcount > 0
            if changed and spec is not None:
                cells_of_spec = {"spec_generation": spec.generation, "spec": as_body(spec)}
                connection.execute(_ADD_SPEC, {**self._at(head.job_id), **cells_of_spec})
            return changed

        if self._database.write(change):
            return True
        now = self.heads([head.job_id]).get(head.job_id)
        return now is not None and msgspec.structs.replace(now, live_run=head.live_run) == head

    def set_live_run(self, job_id: str, *, expected: str | None, run_id: str | None) -> bool:
        parameters = {**self._at(job_id), "expected": expected, "run_id": run_id}
        return self._database.execute(_SET_LIVE_RUN, parameters) > 0

    def specs(self, wanted: Collection[tuple[str, int]]) -> dict[tuple[str, int], Spec]:
        if not wanted:
            return {}
        batch = [(*self._place(job_id), generation) for job_id, generation in wanted]
        found = self._database.ask(_SPECS, {"batch": as_json(batch)})
        return {(spec.job_id, spec.generation): spec for spec in found}

    def scan(self, shard: int, *, after: str, limit: int) -> list[Head]:
        return _whole(self._database.ask(_SCAN, {"shard": shard, "after": after, "limit": limit}))

    def of_owner(self, owner: str, *, before: str, limit: int) -> list[Head]:
        parameters = {"owner": owner, "before": before or _ABOVE_ALL, "limit": limit}
        return _whole(self._database.ask(_OF_OWNER, parameters))

    def _cells(self, head: Head, spec: Spec) -> tuple[Any, ...]:
        kept = (head.owner, head.generation, head.status, head.live_run, _body(head))
        return (*self._place(head.job_id), *kept, spec.generation, as_body(spec))

    def _place(self, job_id: str) -> tuple[int, str]:
        return shard_of(job_id, self._shards), job_id

    def _at(self, job_id: str) -> dict[str, Any]:
        return {"shard": shard_of(job_id, self._shards), "job_id": job_id}


def _body(head: Head) -> str:
    """Return what is kept of a head; `live_run` changes by itself and is kept apart."""
    return as_body(head if head.live_run is None else msgspec.structs.replace(head, live_run=None))


def _whole(found: _Found) -> list[Head]:
    return [
        head if live_run is None else msgspec.structs.replace(head, live_run=live_run) for live_run, head in found
    ]
