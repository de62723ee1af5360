"""Which executors there are, as far as their beats tell, and slots on them."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import NamedTuple

import structlog

from chronoshard.clock import Clock
from chronoshard.domain.liveness import SILENCE_S, Incarnation
from chronoshard.domain.placement import Candidate, choose
from chronoshard.errors import LinkError
from chronoshard.link import Beat, ExecutorLink, ReserveRequest
from chronoshard.ports import Store

log = structlog.get_logger(__name__)

REFRESH_S = 2.0  # how often the beats that others received are read


class Place(NamedTuple):
    """Reserved slots on one executor."""

    incarnation: Incarnation
    reservation: str
    slots: int
    link: ExecutorLink


class _Known(NamedTuple):
    beat: Beat
    seen_s: float


class Fleet:
    def __init__(self, name: str, store: Store, clock: Clock, links: Callable[[str], ExecutorLink]) -> None:
        self._name = name
        self._store = store
        self._clock = clock
        self._links = links
        self._lock = threading.Lock()
        self._known: dict[Incarnation, _Known] = {}
        self._suspects: dict[Incarnation, int] = {}
        self._refreshed_s = float("-inf")
        self._random = random.Random(name)  # spreads load; what it draws decides nothing

    def note(self, beat: Beat) -> None:
        """Take in a beat, whoever received it; a newer incarnation replaces the older ones."""
        incarnation = Incarnation(beat.executor, beat.incarnation)
        with self._lock:
            known = self._known.get(incarnation)
            if known is not None and known.beat.sequence >= beat.sequence:
                return
            self._known[incarnation] = _Known(beat, self._clock.monotonic_s())
            if self._suspects.get(incarnation, beat.sequence) < beat.sequence:
                del self._suspects[incarnation]

    def refresh(self) -> None:
        """Read what other orchestrators have heard, and forget who has been silent."""
        now_s = self._clock.monotonic_s()
        if now_s - self._refreshed_s < REFRESH_S:
            return
        self._refreshed_s = now_s
        for beat in self._store.executors.beats():
            self.note(beat)
        with self._lock:
            self._known = {i: k for i, k in self._known.items() if now_s - k.seen_s < SILENCE_S}

    def suspect(self, incarnation: Incarnation) -> None:
        """Ask it for nothing more until it beats again."""
        with self._lock:
            if (known := self._known.get(incarnation)) is not None:
                self._suspects[incarnation] = known.beat.sequence

    def link(self, incarnation: Incarnation) -> ExecutorLink | None:
        with self._lock:
            known = self._known.get(incarnation)
        return self._links(known.beat.address) if known is not None else None

    def reserve(self, *, runtime: str, tier: int, slots: int) -> Place | None:
        """Hold up to `slots` on the freer of two executors that fit, else on the other; None: no one has any."""
        for candidate in choose(
            self._candidates(), runtime=runtime, labels={}, tier=tier, draw=self._random.randrange
        ):
            incarnation = Incarnation(candidate.executor, candidate.incarnation)
            link = self.link(incarnation)
            if link is None:
                continue
            try:
                grant = link.reserve(ReserveRequest(self._name, incarnation.id, slots))
            except LinkError as error:
                log.warning("executor.unreachable", executor=incarnation.executor, cause=error.detail)
                self.suspect(incarnation)
                continue
            if grant.slots:
                return Place(incarnation, grant.reservation, grant.slots, link)
        return None

    def _candidates(self) -> list[Candidate]:
        with self._lock:
            return [
                Candidate(
                    executor=known.beat.executor,
                    incarnation=known.beat.incarnation,
                    runtimes=frozenset(known.beat.runtimes),
                    labels=known.beat.labels,
                    tier=known.beat.tier,
                    free=known.beat.free,
                    load=known.beat.load,
                )
                for incarnation, known in self._known.items()
                if incarnation not in self._suspects and not known.beat.draining
            ]
