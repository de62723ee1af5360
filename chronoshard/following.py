"""What follows from a final state: history, the attempt that is owed, what waited for the job to be free.

All of it can be derived again from the final row by anyone, so a process that dies half way loses nothing; that
it has been done is noted last (`followed`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chronoshard.domain.attempt import Row, successor
from chronoshard.domain.history import history_of
from chronoshard.domain.identity import partition_of
from chronoshard.domain.job import Head
from chronoshard.failpoints import failpoint
from chronoshard.planning import Planner
from chronoshard.ports import Store


class Following:
    def __init__(self, store: Store, planner: Planner) -> None:
        self._store = store
        self._planner = planner

    def follow(self, rows: Sequence[Row], heads: Mapping[str, Head] | None = None) -> None:
        """Do what follows from these final rows; `heads` are their jobs' where the caller has them."""
        if not rows:
            return
        if heads is None:
            heads = self._store.jobs.heads({row.key.job_id for row in rows})
        failpoint("following.before")
        self._store.history.write([history_of(row) for row in rows])
        self._planner.insert([plan for row in rows if (plan := successor(row)) is not None])
        self._free_jobs(rows, heads)
        failpoint("following.done")
        self._store.timetable.follow([row.key for row in rows])

    def _free_jobs(self, rows: Sequence[Row], heads: Mapping[str, Head]) -> None:
        """Let the next run of a job that forbids overlap go; its shard's owner hears of it."""
        freed = set()
        for row in rows:
            head = heads.get(row.key.job_id)
            if row.next_due_ms is None and head is not None and head.overlap != "allow":
                self._store.jobs.set_live_run(row.key.job_id, expected=row.key.run.id, run_id=None)
                freed.add(partition_of(row.key, self._planner.shards))
        self._planner.hint(freed)
