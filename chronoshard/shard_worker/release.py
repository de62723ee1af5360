"""Holds what will be due soon and releases each attempt on its instant.

Released means: its successors are durable, and it was published and confirmed, or ended here for a recorded
reason, or it waits for its job's live run. An attempt that could not be released goes back to the heap.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import structlog

from chronoshard.batches import apply_all, by_partition
from chronoshard.domain import catchup
from chronoshard.domain.attempt import Dismiss, Row
from chronoshard.domain.bundle import Item, bundles_of
from chronoshard.domain.identity import SCHEDULE, AttemptKey, Partition
from chronoshard.domain.job import Head
from chronoshard.domain.states import State
from chronoshard.domain.trigger import next_occurrences
from chronoshard.domain.validity import DELETED, Refusal, refusal
from chronoshard.errors import Unavailable
from chronoshard.failpoints import failpoint
from chronoshard.following import Following
from chronoshard.overlap import is_free
from chronoshard.planning import Planner
from chronoshard.ports import Broker, Dedupe, Store
from chronoshard.shard_worker.ahead import Ahead

log = structlog.get_logger(__name__)

MAX_PER_PASS = 2_000  # attempts released in one pass: bounds the memory and how long a pass takes
CHECK_WAITING_S = 1.0  # how often what waits for a live run is looked at without a hint
BACK_PRESSURE_MS = 100  # pause after the broker took no more


class Sorted(NamedTuple):
    """What becomes of due attempts: go, end here, or wait for the job's live run."""

    go: list[tuple[Row, Head]]
    end: list[tuple[Row, Refusal]]
    wait: list[Row]


class Release:
    def __init__(
        self,
        name: str,
        store: Store,
        broker: Broker,
        dedupe: Dedupe,
        planner: Planner,
        following: Following,
    ) -> None:
        self._name = name
        self._store = store
        self._broker = broker
        self._dedupe = dedupe
        self._planner = planner
        self._following = following
        self._ahead = Ahead(store, planner)
        self._heap: list[tuple[int, AttemptKey, Row]] = []
        self._pending: set[AttemptKey] = set()
        self._waiting: dict[AttemptKey, Row] = {}

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows that this worker has not seen before."""
        for row in rows:
            self._push(row, row.key.due_ms)

    def holds(self, key: AttemptKey) -> bool:
        """Say whether an attempt has not been released yet."""
        return key in self._pending

    @property
    def size(self) -> int:
        return len(self._heap)

    def next_due_ms(self) -> int | None:
        return self._heap[0][0] if self._heap else None

    def drop(self, owned: Callable[[AttemptKey], bool]) -> None:
        """Forget what belongs to shards that somebody else has now."""
        self._heap = [entry for entry in self._heap if owned(entry[1])]
        heapq.heapify(self._heap)
        self._pending = {key for _, key, _ in self._heap}
        self._waiting = {key: row for key, row in self._waiting.items() if owned(key)}

    def recheck_waiting(self) -> None:
        """Let what waits for its job's live run be looked at again."""
        waiting, self._waiting = self._waiting, {}
        self.add(waiting.values())

    def release(self, now_ms: int) -> int:
        """Release what is due, at most MAX_PER_PASS; return how many left the heap."""
        rows: list[Row] = []
        while self._heap and self._heap[0][0] <= now_ms and len(rows) < MAX_PER_PASS:
            rows.append(heapq.heappop(self._heap)[2])
        if rows:
            try:
                back = self._release(rows, now_ms)
            except Exception:
                for row in rows:
                    self._push(row, now_ms + BACK_PRESSURE_MS)
                raise
            self._pending.difference_update(row.key for row in rows)
            for row in back:
                self._push(row, now_ms + BACK_PRESSURE_MS)
        return len(rows)

    def _push(self, row: Row, when_ms: int) -> None:
        heapq.heappush(self._heap, (when_ms, row.key, row))
        self._pending.add(row.key)

    def _release(self, rows: Sequence[Row], now_ms: int) -> list[Row]:
        heads = self._store.jobs.heads({row.key.job_id for row in rows})
        self._ahead.make(rows, heads, now_ms=now_ms)
        failpoint("shard_worker.made_ahead")
        sorted_ = self._sort([row for row in rows if row.state is None], heads, now_ms)
        self._end(sorted_.end, now_ms)
        self._waiting.update((row.key, row) for row in sorted_.wait)
        return self._publish(sorted_.go)

    def _sort(self, rows: Sequence[Row], heads: Mapping[str, Head], now_ms: int) -> Sorted:
        sorted_ = Sorted([], [], [])
        exclusive: set[str] = set()  # one run of a job that forbids overlap at a time
        for row in rows:
            head = heads.get(row.key.job_id)
            refused = refusal(head, row.key, generation=row.generation)
            if head is None:
                sorted_.end.append((row, DELETED))
            elif refused or (refused := _skipped_by_catchup(row, head, now_ms)):
                sorted_.end.append((row, refused))
            elif head.overlap == "allow":
                sorted_.go.append((row, head))
            elif head.job_id not in exclusive and is_free(self._store, head, row.key.run):
                exclusive.add(head.job_id)
                sorted_.go.append((row, head))
            elif head.overlap == "skip":
                sorted_.end.append((row, Refusal(State.SKIPPED, "overlap.skip")))
            else:
                sorted_.wait.append(row)
        return sorted_

    def _end(self, refused: Sequence[tuple[Row, Refusal]], now_ms: int) -> None:
        """Record why these do not run; what another has taken meanwhile is the other's."""
        groups = by_partition(refused, self._planner.shards, lambda pair: pair[0].key)
        for partition, group in groups.items():
            changes = [
                Dismiss(row.key, f"{self._name}:dismiss", why.state, why.reason, now_ms) for row, why in group
            ]
            done = apply_all(self._store.timetable, partition, changes).done
            rows = self._store.timetable.rows([change.key for change in done])
            self._following.follow([row for row in rows if row is not None])
            log.info("runs.dismissed", partition=partition, count=len(done), reason=group[0][1].reason)

    def _publish(self, released: Sequence[tuple[Row, Head]]) -> list[Row]:
        """Publish, then mark what was confirmed; return the rows that were not."""
        try:
            marked = self._dedupe.marked([row.key for row, _ in released])
        except Unavailable:
            marked = set()
        fresh = [pair for pair in released if pair[0].key not in marked]
        groups: dict[Partition, list[tuple[Row, Head]]]
        groups = by_partition(fresh, self._planner.shards, lambda pair: pair[0].key)
        bundles = [
            bundle
            for partition, pairs in groups.items()
            for bundle in bundles_of(partition, [(Item(row.key), head) for row, head in pairs])
        ]
        bundles.sort(key=lambda bundle: bundle.priority)
        refused = self._broker.publish(bundles) if bundles else []
        failpoint("shard_worker.published")
        unconfirmed = {item.key for bundle in refused for item in bundle.items}
        try:
            self._dedupe.mark([row.key for row, _ in fresh if row.key not in unconfirmed])
        except Unavailable:
            log.warning("dedupe.away", action="published without marks")
        failpoint("shard_worker.marked")
        return [row for row, _ in fresh if row.key in unconfirmed]


def _skipped_by_catchup(row: Row, head: Head, now_ms: int) -> Refusal | None:
    """Apply the job's catch-up policy to a first attempt that is late."""
    key = row.key
    if key.origin != SCHEDULE or key.attempt != 0 or now_ms - key.due_ms <= catchup.LATE_MS:
        return None
    entry = head.owner_of(key.nominal_ms)
    assert entry is not None
    assert entry.trigger is not None
    following = next_occurrences(entry.trigger, after_ms=key.nominal_ms, dst=head.dst, count=1)
    reason = catchup.decide(
        head.catchup,
        nominal_ms=key.nominal_ms,
        due_ms=key.due_ms,
        now_ms=now_ms,
        next_nominal_ms=following[0] if following else None,
    )
    return Refusal(State.SKIPPED, reason) if reason else None
