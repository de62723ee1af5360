"""Leads or waits to lead. While it leads: assigns, ticks, moves the watermark.

Everything it orders is written under its term, so a deposed master's orders are refused; and what it has ordered
stands until replaced, so that losing it makes nothing late.
"""

from __future__ import annotations

import structlog

from chronoshard.clock import Clock
from chronoshard.domain.assignment import assign
from chronoshard.domain.identity import minute_of
from chronoshard.errors import TermOver
from chronoshard.failpoints import failpoint
from chronoshard.ports import Assignments, Coordination, Member, Store, Term, Tick
from chronoshard.service import Service

log = structlog.get_logger(__name__)

PASS_S = 1.0
MAX_CLOCK_SKEW_MS = 2_000  # a master whose clock is further off than this does not lead
WATERMARK_BATCH = 1_440  # minutes looked at in one pass after an outage


class Master:
    def __init__(
        self,
        name: str,
        store: Store,
        coordination: Coordination,
        clock: Clock,
        *,
        shards: int,
        slices: int,
        retention_minutes: int,
    ) -> None:
        self.name = name
        self._store = store
        self._coordination = coordination
        self._clock = clock
        self._shards = shards
        self._slices = slices
        self._retention_minutes = retention_minutes
        self._term: Term | None = None
        self._seen = 0
        self._service = Service(f"master {name}", self.tick)

    def start(self) -> None:
        self._coordination.join(Member("master", self.name))
        self._service.start()

    def stop(self) -> None:
        self._service.stop()
        if self._term is not None:
            self._term.resign()
        self._coordination.leave(Member("master", self.name))

    def tick(self) -> float:
        """Do one pass; return how long to sleep: not at all, since it waits for changes itself."""
        if self._lead():
            try:
                self._order()
            except TermOver:
                log.warning("master.term_over", name=self.name)
                self._term = None
        if not self._service.stopping:
            self._seen = self._coordination.wait_for_change(self._seen, timeout_s=PASS_S)
        return 0.0

    def _lead(self) -> bool:
        skew_ms = self._clock.now_ms() - self._store.now_ms()
        if abs(skew_ms) > MAX_CLOCK_SKEW_MS:
            log.error("master.clock_skew", name=self.name, skew_ms=skew_ms)
            if self._term is not None:
                self._term.resign()
                self._term = None
            return False
        if self._term is None:
            self._term = self._coordination.campaign(self.name)
            if self._term is not None:
                log.info("master.leads", name=self.name, term=self._term.number)
        return self._term is not None and self._term.trusted()

    def _order(self) -> None:
        assert self._term is not None
        self._assign(self._term)
        failpoint("master.assigned")
        self._tick(self._term)
        self._advance_watermark(self._term)

    def _assign(self, term: Term) -> None:
        current = self._coordination.assignments()
        workers = [member.name for member in self._coordination.members("shard_worker")]
        orchestrators = [member.name for member in self._coordination.members("orchestrator")]
        shards = assign(range(self._shards), workers, current.shards) if workers else {}
        slices = assign(range(self._slices), orchestrators, current.slices) if orchestrators else {}
        if (shards, slices, term.number) != (current.shards, current.slices, current.term):
            minute = minute_of(self._clock.now_ms())
            term.assign(Assignments(term.number, minute, shards, slices))
            log.info("master.assigned", term=term.number, minute=minute, workers=workers)

    def _tick(self, term: Term) -> None:
        now_ms = self._clock.now_ms()
        last = self._coordination.last_tick()
        if last is None or (last.term, last.minute) != (term.number, minute_of(now_ms)):
            term.tick(Tick(term.number, minute_of(now_ms), now_ms))

    def _advance_watermark(self, term: Term) -> None:
        now_minute = minute_of(self._clock.now_ms())
        watermark = self._coordination.watermark()
        if watermark is None:
            term.advance_watermark(self._first_minute(now_minute))
            return
        until = min(now_minute, watermark + WATERMARK_BATCH)
        if until <= watermark:
            return
        closed = [
            {minute for minute, mark in marks.items() if mark.closed}
            for shard in range(self._shards)
            for marks in [self._store.minutes.marks(shard, from_minute=watermark, until_minute=until)]
        ]
        advanced = watermark
        while advanced < until and all(advanced in minutes for minutes in closed):
            advanced += 1
        if advanced > watermark:
            term.advance_watermark(advanced)

    def _first_minute(self, now_minute: int) -> int:
        """Return where to begin when no watermark is known: at the oldest partition that may hold rows."""
        oldest = now_minute - self._retention_minutes
        firsts = (
            next(self._store.iter_partitions(shard, from_minute=oldest, until_minute=now_minute), None)
            for shard in range(self._shards)
        )
        return min((partition.minute for partition in firsts if partition), default=now_minute)
