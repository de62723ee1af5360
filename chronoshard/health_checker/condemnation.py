"""Condemns silent executors, then releases what they held (invariant 4: never before).

What a new incarnation has taken the place of is over at once: its first beat says that nothing of the older ones
lives and that their results were sent.
"""

from __future__ import annotations

from collections.abc import Mapping

import structlog

from chronoshard.batches import apply_all, by_partition
from chronoshard.clock import Clock
from chronoshard.domain.ending import lost
from chronoshard.domain.liveness import LOST_AFTER_S, Incarnation, Sighting, to_condemn
from chronoshard.failpoints import failpoint
from chronoshard.following import Following
from chronoshard.link import Beat
from chronoshard.ports import Coordination, Store

log = structlog.get_logger(__name__)

MINUTE_S = 60.0


class Condemnation:
    def __init__(
        self, store: Store, coordination: Coordination, following: Following, clock: Clock, *, shards: int
    ) -> None:
        self._store = store
        self._coordination = coordination
        self._following = following
        self._clock = clock
        self._shards = shards
        self._sightings: dict[Incarnation, tuple[int, float]] = {}  # sequence, and when it was first read
        self._watching_since_s: float | None = None

    def tick(self) -> None:
        """Read the beats, condemn the silent, end what is over."""
        try:
            beats = self._store.executors.beats()
        except Exception:
            self._watching_since_s = None  # its own blindness is not the executors' silence
            raise
        self._note(beats)
        condemned = self._coordination.condemned()
        self._condemn(condemned)
        over = {incarnation for incarnation, age_s in condemned.items() if age_s >= LOST_AFTER_S}
        self.end(over, "executor.condemned")
        replaced = _replaced(beats)
        self.end(replaced, "executor.restarted")
        known = {Incarnation(beat.executor, beat.incarnation) for beat in beats}
        self._store.executors.forget((over | replaced) & known)

    def knows(self, incarnation: Incarnation) -> bool:
        """Say whether an incarnation beat lately, as far as this watcher has seen."""
        return incarnation in self._sightings

    def end(self, incarnations: set[Incarnation], why: str) -> None:
        """Take every attempt that these still hold to LOST, with what is owed for it."""
        rows = self._store.timetable.running_on(incarnations) if incarnations else []
        for partition, group in by_partition(rows, self._shards, lambda row: row.key).items():
            now_ms = self._clock.now_ms()
            failpoint("health_checker.before_lost")
            done = apply_all(self._store.timetable, partition, [lost(row, why, now_ms) for row in group]).done
            ended = self._store.timetable.rows([change.key for change in done])
            self._following.follow([row for row in ended if row is not None])
            log.warning("attempts.lost", partition=partition, count=len(done), why=why)

    def _note(self, beats: list[Beat]) -> None:
        now_s = self._clock.monotonic_s()
        if self._watching_since_s is None:
            self._watching_since_s = now_s
            self._sightings.clear()
        current: dict[Incarnation, tuple[int, float]] = {}
        for beat in beats:
            incarnation = Incarnation(beat.executor, beat.incarnation)
            sequence, seen_s = self._sightings.get(incarnation, (-1, now_s))
            current[incarnation] = (sequence, seen_s) if sequence == beat.sequence else (beat.sequence, now_s)
        self._sightings = current

    def _condemn(self, condemned: Mapping[Incarnation, float]) -> None:
        assert self._watching_since_s is not None
        sightings = [
            Sighting(incarnation, seen_s)
            for incarnation, (_, seen_s) in self._sightings.items()
            if incarnation not in condemned
        ]
        silent = to_condemn(
            sightings,
            now_s=self._clock.monotonic_s(),
            watching_since_s=self._watching_since_s,
            recently_condemned=sum(1 for age_s in condemned.values() if age_s < MINUTE_S),
        )
        for incarnation in silent:
            self._coordination.condemn(incarnation)
            log.warning("executor.condemned", executor=incarnation.executor, incarnation=incarnation.id)


def _replaced(beats: list[Beat]) -> set[Incarnation]:
    """Return the incarnations whose executor has begun a later one that has cleared up after them."""
    cleared: dict[str, str] = {}
    for beat in beats:
        if beat.leftovers_done:
            cleared[beat.executor] = max(beat.incarnation, cleared.get(beat.executor, ""))
    return {
        Incarnation(beat.executor, beat.incarnation)
        for beat in beats
        if beat.incarnation < cleared.get(beat.executor, "")
    }
