"""Reads what will be due within the next seconds, a shard at a time, and remembers what it has seen.

A look goes LOOK_AHEAD_MS into the future and LOOK_BACK_MS into the past, so that what was written at short notice
is found even when its hint was lost; what is later than that is found when the minute is closed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from chronoshard.domain.attempt import Row
from chronoshard.domain.identity import MINUTE_MS, AttemptKey, Partition, minute_of
from chronoshard.ports import Timetable

LOOK_AHEAD_MS = 15_000
LOOK_BACK_MS = 15_000
LOOK_EVERY_MS = 5_000
PAGE = 500  # rows of one read


def pages(timetable: Timetable, partition: Partition, *, from_ms: int | None = None) -> Iterator[list[Row]]:
    """Yield a partition's rows page by page, from those due at `from_ms` on."""
    after = None if from_ms is None else AttemptKey(from_ms - 1, "~", 0, 0, 0)
    while True:
        page = timetable.page(partition, after=after, limit=PAGE)
        if page:
            yield page
        if len(page) < PAGE:
            return
        after = page[-1].key


class Seen:
    """Which rows of which partitions this worker has taken into its heap."""

    def __init__(self) -> None:
        self._keys: defaultdict[Partition, set[AttemptKey]] = defaultdict(set)

    def fresh(self, partition: Partition, rows: list[Row]) -> list[Row]:
        """Return the rows not seen before, and remember them."""
        known = self._keys[partition]
        fresh = [row for row in rows if row.key not in known]
        known.update(row.key for row in fresh)
        return fresh

    def forget(self, partition: Partition) -> None:
        self._keys.pop(partition, None)

    def keep_shards(self, shards: set[int]) -> None:
        for partition in [p for p in self._keys if p.shard not in shards]:
            del self._keys[partition]


class Reading:
    """When each shard is looked at next."""

    def __init__(self, timetable: Timetable, seen: Seen) -> None:
        self._timetable = timetable
        self._seen = seen
        self._next_look_ms: dict[int, int] = {}

    def hurry(self, shard: int) -> None:
        """Look at a shard in the next pass: something came at short notice."""
        if shard in self._next_look_ms:
            self._next_look_ms[shard] = 0

    def own(self, shards: set[int], now_ms: int) -> None:
        """Begin with what is new, forget what is gone."""
        for shard in [shard for shard in self._next_look_ms if shard not in shards]:
            del self._next_look_ms[shard]
        for shard in shards:
            self._next_look_ms.setdefault(shard, 0)

    def next_look_ms(self) -> int:
        return min(self._next_look_ms.values(), default=0)

    def look(self, now_ms: int) -> list[Row]:
        """Return the unseen rows of every shard whose turn has come."""
        found: list[Row] = []
        for shard, when_ms in self._next_look_ms.items():
            if when_ms <= now_ms:
                found += self._look_at(shard, now_ms)
                self._next_look_ms[shard] = now_ms + LOOK_EVERY_MS
        return found

    def _look_at(self, shard: int, now_ms: int) -> list[Row]:
        from_ms = now_ms - LOOK_BACK_MS
        to_ms = now_ms + LOOK_AHEAD_MS
        found: list[Row] = []
        for minute in range(minute_of(from_ms), minute_of(to_ms) + 1):
            partition = Partition(minute, shard)
            start_ms = max(from_ms, minute * MINUTE_MS)
            for page in pages(self._timetable, partition, from_ms=start_ms):
                found += self._seen.fresh(partition, [row for row in page if row.key.due_ms <= to_ms])
                if page[-1].key.due_ms > to_ms:
                    break
        return found
