"""Closes minutes, in order per shard, once nothing of them is left to release.

The mark is set first, then the partition is read for the last time; a writer inserts first and then reads the mark:
one of the two always sees the other. Closing is also how an outage is caught up: every minute since the
watermark is read here and what it still owes is released.
"""

from __future__ import annotations

from typing import NamedTuple

from chronoshard.domain.attempt import Row
from chronoshard.domain.identity import MINUTE_MS, Partition, minute_of
from chronoshard.domain.ledger import Totals, add, totals
from chronoshard.failpoints import failpoint
from chronoshard.ports import Store
from chronoshard.shard_worker.reading import Seen, pages
from chronoshard.shard_worker.release import Release

CLOSE_AFTER_MS = 5_000  # past the end of the minute: time for those who write at the last moment
MAX_MINUTES = 240  # of one shard in one pass: after an outage the shards take turns
MAX_HELD = 20_000  # rows in the heap above which no further minute is opened


class LastRead(NamedTuple):
    """A whole partition: the rows not seen before, whether any is still to be released, the counts of all."""

    fresh: list[Row]
    held: bool
    totals: Totals


NOTHING = LastRead([], False, Totals())


class Closing:
    def __init__(self, store: Store, release: Release, seen: Seen) -> None:
        self._store = store
        self._release = release
        self._seen = seen
        self._next: dict[int, int] = {}  # the first minute of each shard that is not closed
        self._marked: set[Partition] = set()

    def own(self, shards: set[int], watermark: int) -> None:
        """Begin with what is new at the watermark, forget what is gone."""
        self._next = {shard: minute for shard, minute in self._next.items() if shard in shards}
        self._marked = {partition for partition in self._marked if partition.shard in shards}
        for shard in shards - self._next.keys():
            self._next[shard] = watermark

    def next_close_ms(self) -> int | None:
        """Return when the next minute can be closed."""
        if not self._next:
            return None
        return (min(self._next.values()) + 1) * MINUTE_MS + CLOSE_AFTER_MS

    def close(self, now_ms: int) -> list[Row]:
        """Close what can be closed; return the rows that have to be released before more can be."""
        last = minute_of(now_ms - CLOSE_AFTER_MS) - 1
        found: list[Row] = []
        for shard, minute in self._next.items():
            if minute <= last and self._release.size + len(found) < MAX_HELD:
                found += self._close_shard(shard, minute, min(last, minute + MAX_MINUTES - 1))
        return found

    def _close_shard(self, shard: int, first: int, last: int) -> list[Row]:
        minutes = range(first, last + 1)
        already = self._store.minutes.marks(shard, from_minute=first, until_minute=last + 1)
        open_ = [Partition(m, shard) for m in minutes if m not in already or not already[m].closed]
        self._mark([partition for partition in open_ if partition not in self._marked])
        failpoint("shard_worker.marked_closing")
        with_rows = set(self._store.iter_partitions(shard, from_minute=first, until_minute=last + 1))
        closed: dict[Partition, Totals] = {}
        for partition in open_:
            last_read = self._last_read(partition) if partition in with_rows else NOTHING
            if last_read.fresh or last_read.held:
                self._finish(shard, closed, partition.minute)
                return last_read.fresh
            closed[partition] = last_read.totals
        self._finish(shard, closed, last + 1)
        return []

    def _mark(self, partitions: list[Partition]) -> None:
        if partitions:
            self._store.minutes.mark_closing(partitions)
            self._marked.update(partitions)

    def _last_read(self, partition: Partition) -> LastRead:
        fresh: list[Row] = []
        held = False
        counted = Totals()
        for page in pages(self._store.timetable, partition):
            fresh += self._seen.fresh(partition, page)
            held = held or any(self._release.holds(row.key) for row in page)
            counted = add(counted, totals(page))
        return LastRead(fresh, held, counted)

    def _finish(self, shard: int, closed: dict[Partition, Totals], next_minute: int) -> None:
        if closed:
            self._store.minutes.close(closed)
            failpoint("shard_worker.closed")
        for partition in closed:
            self._marked.discard(partition)
            self._seen.forget(partition)
        self._next[shard] = next_minute
