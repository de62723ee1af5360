"""The loop of a shard worker: what it owns, and one pass over it.

It goes on with what it has while the coordination or the master is away: two owners of a shard are harmless, since
the claim decides, and none would be a silence.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import structlog

from chronoshard.clock import Clock
from chronoshard.domain.identity import Partition, shard_of
from chronoshard.errors import Unavailable
from chronoshard.following import Following
from chronoshard.planning import Planner
from chronoshard.ports import Broker, Coordination, Dedupe, Member, Store
from chronoshard.service import Service
from chronoshard.shard_worker.closing import Closing
from chronoshard.shard_worker.reading import LOOK_EVERY_MS, Reading, Seen
from chronoshard.shard_worker.reference import ReferenceClock
from chronoshard.shard_worker.release import CHECK_WAITING_S, Release

log = structlog.get_logger(__name__)


class ShardWorker:
    def __init__(
        self,
        name: str,
        store: Store,
        broker: Broker,
        coordination: Coordination,
        dedupe: Dedupe,
        planner: Planner,
        following: Following,
        clock: Clock,
    ) -> None:
        self.name = name
        self._coordination = coordination
        self._dedupe = dedupe
        self._planner = planner
        self._clock = clock
        self._reference = ReferenceClock(clock, store.now_ms)
        self._release = Release(name, store, broker, dedupe, planner, following)
        self._seen = Seen()
        self._reading = Reading(store.timetable, self._seen)
        self._closing = Closing(store, self._release, self._seen)
        self._shards: set[int] = set()
        self._hinted: deque[int] = deque()
        self._checked_waiting_s = 0.0
        self._unsubscribe: Callable[[], None] = lambda: None
        self._service = Service(f"shard_worker {name}", self.tick)

    def start(self) -> None:
        self._unsubscribe = self._dedupe.subscribe(self._hear)
        self._coordination.join(Member("shard_worker", self.name))
        self._service.start()

    def stop(self) -> None:
        self._service.stop()
        self._unsubscribe()
        self._coordination.leave(Member("shard_worker", self.name))

    def tick(self) -> float:
        """Do one pass; return the seconds until something is due."""
        self._reference.compare()
        self._own()
        now_ms = self._reference.now_ms()
        self._take_hints()
        self._release.add(self._reading.look(now_ms))
        self._release.release(self._reference.now_ms())
        self._release.add(self._closing.close(now_ms))
        return self._sleep_s()

    def _own(self) -> None:
        """Take what the master's standing orders say; keep what there was while nobody can be asked."""
        try:
            assignments = self._coordination.assignments()
            watermark = self._coordination.watermark()
        except Unavailable:
            return
        if watermark is None:
            return
        shards = {shard for shard, worker in assignments.shards.items() if worker == self.name}
        if shards != self._shards:
            log.info("shard_worker.owns", name=self.name, shards=len(shards), term=assignments.term)
            self._shards = shards
            self._release.drop(lambda key: shard_of(key.job_id, self._planner.shards) in shards)
        self._reading.own(shards, self._reference.now_ms())
        self._closing.own(shards, watermark)
        self._seen.keep_shards(shards)

    def _hear(self, partition: Partition) -> None:
        self._hinted.append(partition.shard)
        self._service.wake()

    def _take_hints(self) -> None:
        hinted = bool(self._hinted)
        while self._hinted:
            self._reading.hurry(self._hinted.popleft())
        now_s = self._clock.monotonic_s()
        if hinted or now_s - self._checked_waiting_s >= CHECK_WAITING_S:
            self._checked_waiting_s = now_s
            self._release.recheck_waiting()

    def _sleep_s(self) -> float:
        now_ms = self._reference.now_ms()
        times = [self._reading.next_look_ms(), self._release.next_due_ms(), self._closing.next_close_ms()]
        soonest_ms = min((time_ms for time_ms in times if time_ms is not None), default=now_ms + LOOK_EVERY_MS)
        return min(max(0.0, (soonest_ms - now_ms) / 1000), CHECK_WAITING_S)
