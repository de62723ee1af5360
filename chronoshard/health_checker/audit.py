"""Looks at every closed minute until it is settled, and mends what a dead process left undone.

A final row whose consequences are not noted: they are derived again. A row that nobody claims: it got lost on the
way and is released again, past the dedupe marks. A row claimed for an executor nobody has heard of: condemned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import structlog

from chronoshard.clock import Clock
from chronoshard.domain.attempt import Row
from chronoshard.domain.identity import AttemptKey, Partition, minute_of
from chronoshard.domain.ledger import Totals, add, is_settled, totals
from chronoshard.domain.liveness import Incarnation
from chronoshard.domain.states import State
from chronoshard.following import Following
from chronoshard.health_checker.releasing import Releasing
from chronoshard.ports import Store

log = structlog.get_logger(__name__)

LOOK_EVERY_MS = 10_000
UNDONE_AFTER_MS = 10_000  # whoever ended a row is given that long to do what follows
UNHEARD_AFTER_MS = 60_000  # a claim for an executor that has not beaten for that long
MAX_LOOKS = 500  # partitions looked at in one pass
MAX_ROWS = 1_000  # open rows of one partition read together


@dataclass(slots=True)
class Watched:
    """A closed minute that is not settled. `open` is None until it has been read as a whole."""

    next_look_ms: int
    reopened: list[str] = field(default_factory=list)
    open: list[AttemptKey] | None = None
    totals: Totals = field(default_factory=Totals)


class Audit:
    def __init__(
        self,
        store: Store,
        following: Following,
        releasing: Releasing,
        unheard: Callable[[Incarnation], None],
        clock: Clock,
        *,
        retention_minutes: int,
    ) -> None:
        self._store = store
        self._following = following
        self._releasing = releasing
        self._unheard = unheard
        self._clock = clock
        self._retention_minutes = retention_minutes
        self._scanned: dict[int, int] = {}  # up to which minute each shard's marks were read
        self._watched: dict[Partition, Watched] = {}

    def own(self, shards: set[int]) -> None:
        oldest = minute_of(self._clock.now_ms()) - self._retention_minutes
        self._scanned = {shard: self._scanned.get(shard, oldest) for shard in shards}
        self._watched = {p: watched for p, watched in self._watched.items() if p.shard in shards}

    def tick(self) -> None:
        """Take up what was closed or reopened, look at what is due to be looked at."""
        now_ms = self._clock.now_ms()
        for shard in self._scanned:
            self._scan(shard, now_ms)
            for id_, partition in self._store.minutes.reopened(shard).items():
                self._take_up(partition, id_, now_ms)
        due = [p for p, watched in self._watched.items() if watched.next_look_ms <= now_ms]
        for partition in due[:MAX_LOOKS]:
            self._look(partition, self._watched[partition], now_ms)
        self._releasing.send()

    def _scan(self, shard: int, now_ms: int) -> None:
        first = self._scanned[shard]
        marks = self._store.minutes.marks(shard, from_minute=first, until_minute=minute_of(now_ms))
        for minute, mark in sorted(marks.items()):
            if not mark.closed:
                break
            if not mark.settled and mark.totals.rows:
                self._watched.setdefault(Partition(minute, shard), Watched(now_ms))
            self._scanned[shard] = minute + 1

    def _take_up(self, partition: Partition, id_: str, now_ms: int) -> None:
        watched = self._watched.setdefault(partition, Watched(now_ms))
        if id_ not in watched.reopened:
            watched.reopened.append(id_)
            watched.open = None
            watched.next_look_ms = now_ms

    def _look(self, partition: Partition, watched: Watched, now_ms: int) -> None:
        open_keys: list[AttemptKey] = []
        counted = Totals()
        for rows in self._read(partition, watched):
            counted = add(counted, totals(rows))
            undone = [row for row in rows if _is_undone(row, now_ms)]
            self._following.follow(undone)
            done = {row.key for row in undone}
            still = [row for row in rows if not is_settled(row) and row.key not in done]
            open_keys += [row.key for row in still]
            self._mend(still, bool(watched.reopened), now_ms)
        if watched.open is None:
            watched.totals = counted
        watched.open = open_keys
        watched.next_look_ms = now_ms + LOOK_EVERY_MS
        if not open_keys:
            self._settle(partition, watched)

    def _read(self, partition: Partition, watched: Watched) -> Iterable[list[Row]]:
        """Yield the whole partition the first time, then only what was open."""
        timetable = self._store.timetable
        if watched.open is None:
            after: AttemptKey | None = None
            while page := timetable.page(partition, after=after, limit=MAX_ROWS):
                yield page
                after = page[-1].key
            return
        for start in range(0, len(watched.open), MAX_ROWS):
            found = timetable.rows(watched.open[start : start + MAX_ROWS])
            yield [row for row in found if row is not None]

    def _mend(self, rows: list[Row], reopened: bool, now_ms: int) -> None:
        self._releasing.consider([row for row in rows if row.state is None], at_once=reopened, now_ms=now_ms)
        for row in rows:
            if row.state is State.RUNNING and now_ms - (row.started_ms or 0) > UNHEARD_AFTER_MS:
                assert row.executor is not None
                assert row.incarnation is not None
                self._unheard(Incarnation(row.executor, row.incarnation))

    def _settle(self, partition: Partition, watched: Watched) -> None:
        self._store.minutes.settle({partition: watched.totals})
        if watched.reopened:
            self._store.minutes.forget_reopened(partition.shard, watched.reopened)
        del self._watched[partition]


def _is_undone(row: Row, now_ms: int) -> bool:
    """Say whether a final row's consequences have been left undone."""
    if row.state in (None, State.RUNNING) or row.followed:
        return False
    return now_ms - (row.finished_ms or 0) > UNDONE_AFTER_MS
