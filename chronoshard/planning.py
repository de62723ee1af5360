"""How every part writes rows of the timetable: insert, then look at the mark.

The one who closes a minute marks first and reads last, the one who writes a row inserts first and reads the mark
last: one of the two always sees the other, however long either was frozen.
"""

from __future__ import annotations

from collections.abc import Sequence

from chronoshard.clock import Clock
from chronoshard.domain.ahead import first_plans
from chronoshard.domain.attempt import Plan
from chronoshard.domain.identity import Partition, partition_of
from chronoshard.domain.job import Head
from chronoshard.errors import Unavailable
from chronoshard.failpoints import failpoint
from chronoshard.ports import Dedupe, Store

HOUR_MS = 3_600_000  # what is due later cannot be closed before the writer wakes up
SOON_MS = 20_000  # what is due within it may have been read by its owner already, who needs a hint


class Planner:
    def __init__(self, store: Store, dedupe: Dedupe, clock: Clock, *, shards: int) -> None:
        self._store = store
        self._dedupe = dedupe
        self._clock = clock
        self.shards = shards

    def begin(self, heads: Sequence[Head]) -> None:
        """Make the first rows of fresh or changed jobs."""
        now_ms = self._clock.now_ms()
        self.insert([plan for head in heads for plan in first_plans(head, now_ms=now_ms)])

    def insert(self, plans: Sequence[Plan]) -> None:
        """Make rows, durable on return; have closed minutes looked at again; hint at what is due soon."""
        if not plans:
            return
        self._store.timetable.insert(plans)
        failpoint("planning.inserted")
        now_ms = self._clock.now_ms()
        near = {partition_of(p.key, self.shards) for p in plans if p.key.due_ms < now_ms + HOUR_MS}
        if closing := self._store.minutes.closing(near):
            self._store.minutes.reopen(closing)
        self.hint({partition_of(p.key, self.shards) for p in plans if p.key.due_ms < now_ms + SOON_MS})

    def hint(self, partitions: set[Partition]) -> None:
        """Tell the owners; a hint that cannot be sent is found by their next look."""
        if partitions:
            try:
                self._dedupe.hint(partitions)
            except Unavailable:
                return
