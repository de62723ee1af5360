"""Releases again what got lost between the shard worker and a claim, with growing patience.

Past the dedupe marks, since those are of the publish that got lost. An attempt that executors with free slots did
not get to claim MAX_RELEASES times takes its orchestrators down: it is ended as poison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from chronoshard.batches import apply_all, by_partition
from chronoshard.domain.attempt import Dismiss, Row
from chronoshard.domain.bundle import MAX_RELEASES, Item, Queue, bundles_of
from chronoshard.domain.identity import AttemptKey, shard_of
from chronoshard.domain.job import Head
from chronoshard.domain.states import State
from chronoshard.following import Following
from chronoshard.overlap import is_free
from chronoshard.ports import Broker, Store

log = structlog.get_logger(__name__)

PATIENCE_MS = 60_000  # unclaimed for that long while its queue is empty
BUSY_PATIENCE_MS = (120_000, 240_000, 480_000, 960_000)  # while its queue is not
REMEMBERED = 200_000  # attempts whose releases are counted


@dataclass(slots=True)
class Released:
    """How often an attempt was released again, how often that counted, and when it may be again."""

    times: int
    counted: int
    again_ms: int


class Releasing:
    def __init__(
        self, name: str, store: Store, broker: Broker, following: Following, *, shards: int, slices: int
    ) -> None:
        self._name = name
        self._store = store
        self._broker = broker
        self._following = following
        self._shards = shards
        self._slices = slices
        self._released: dict[AttemptKey, Released] = {}
        self._ready: list[tuple[Row, Head]] = []

    def consider(self, rows: Sequence[Row], *, at_once: bool, now_ms: int) -> None:
        """Note which of these unclaimed rows have waited long enough. `at_once`: they came too late to be read."""
        waiting = [row for row in rows if self._may_be_due(row, at_once, now_ms)]
        if not waiting:
            return
        heads = self._store.jobs.heads({row.key.job_id for row in waiting})
        depths = self._broker.depths()
        free = {runtime for beat in self._store.executors.beats() if beat.free for runtime in beat.runtimes}
        for row in waiting:
            head = heads.get(row.key.job_id)
            if head is None or not is_free(self._store, head, row.key.run):
                continue
            busy = depths.get(self._queue(row, head), 0) > 0
            known = self._released.setdefault(row.key, Released(0, 0, 0))
            patience_ms = BUSY_PATIENCE_MS[min(known.times, len(BUSY_PATIENCE_MS) - 1)]
            if busy and now_ms - row.key.due_ms < patience_ms:
                continue
            if known.counted >= MAX_RELEASES:
                self._poison(row, now_ms)
                continue
            known.times += 1
            known.counted += not busy and known.times > 1 and head.runtime in free
            known.again_ms = now_ms + patience_ms
            self._ready.append((row, head))

    def send(self) -> None:
        """Publish what was noted."""
        ready, self._ready = self._ready, []
        groups = by_partition(ready, self._shards, lambda pair: pair[0].key)
        bundles = [
            bundle
            for partition, pairs in groups.items()
            for bundle in bundles_of(
                partition, [(Item(row.key, self._released[row.key].counted), head) for row, head in pairs]
            )
        ]
        if bundles:
            refused = self._broker.publish(bundles)
            log.info("attempts.released_again", count=len(ready), refused=len(refused))
        while len(self._released) > REMEMBERED:
            del self._released[next(iter(self._released))]

    def _may_be_due(self, row: Row, at_once: bool, now_ms: int) -> bool:
        known = self._released.get(row.key)
        if known is not None:
            return now_ms >= known.again_ms
        return now_ms - row.key.due_ms >= (0 if at_once else PATIENCE_MS)

    def _queue(self, row: Row, head: Head) -> Queue:
        return Queue(head.tier, head.priority, shard_of(row.key.job_id, self._shards) % self._slices)

    def _poison(self, row: Row, now_ms: int) -> None:
        [(partition, _)] = by_partition([row], self._shards, lambda one: one.key).items()
        change = Dismiss(row.key, f"{self._name}:poison", State.LOST, "poison", now_ms)
        if apply_all(self._store.timetable, partition, [change]).done:
            ended = self._store.timetable.rows([row.key])
            self._following.follow([one for one in ended if one is not None])
            log.error("run.poison", run_id=row.key.run.id, attempt=row.key.attempt)
