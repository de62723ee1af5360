"""The loop of a health checker. Each of its actions is a compare-and-set, so any number of them may run."""

from __future__ import annotations

import structlog

from chronoshard.clock import Clock
from chronoshard.completion import complete
from chronoshard.domain.assignment import assign
from chronoshard.domain.identity import minute_of
from chronoshard.domain.liveness import Incarnation
from chronoshard.following import Following
from chronoshard.health_checker.audit import Audit
from chronoshard.health_checker.condemnation import Condemnation
from chronoshard.health_checker.releasing import Releasing
from chronoshard.planning import Planner
from chronoshard.ports import Broker, Coordination, Member, Store
from chronoshard.service import Service

log = structlog.get_logger(__name__)

PASS_S = 1.0
INTENT_AGES = (2, 10, 120, 1440)  # minutes after which half-done creates and edits are looked at
INTENTS_AT_START = 15  # minutes looked back at when it begins: the api may have died together with it
EXPIRE_EVERY_S = 60.0
EXPIRE_ROWS = 2_000


class HealthChecker:
    def __init__(
        self,
        name: str,
        store: Store,
        broker: Broker,
        coordination: Coordination,
        planner: Planner,
        following: Following,
        clock: Clock,
        *,
        shards: int,
        slices: int,
        retention_minutes: int,
    ) -> None:
        self.name = name
        self._store = store
        self._coordination = coordination
        self._planner = planner
        self._clock = clock
        self._shards = shards
        self._condemnation = Condemnation(store, coordination, following, clock, shards=shards)
        releasing = Releasing(name, store, broker, following, shards=shards, slices=slices)
        self._audit = Audit(
            store, following, releasing, self._condemn_unheard, clock, retention_minutes=retention_minutes
        )
        self._looked_at: set[int] = set()  # minutes whose intents were looked at just now
        self._started = False
        self._expired_s = float("-inf")
        self._service = Service(f"health_checker {name}", self.tick)

    def start(self) -> None:
        self._coordination.join(Member("health_checker", self.name))
        self._service.start()

    def stop(self) -> None:
        self._service.stop()
        self._coordination.leave(Member("health_checker", self.name))

    def tick(self) -> float:
        self._condemnation.tick()
        self._audit.own(self._own_shards())
        self._audit.tick()
        self._finish_intents()
        self._expire()
        return PASS_S

    def _own_shards(self) -> set[int]:
        """Share the shards with the other health checkers; an overlap while one comes or goes is harmless."""
        names = [member.name for member in self._coordination.members("health_checker")]
        owners = assign(range(self._shards), names, {}) if names else {}
        return {shard for shard, owner in owners.items() if owner == self.name}

    def _condemn_unheard(self, incarnation: Incarnation) -> None:
        """Condemn an incarnation that holds a claim and has no beat: its start can never be told of."""
        if not self._condemnation.knows(incarnation):
            self._coordination.condemn(incarnation)

    def _finish_intents(self) -> None:
        """Finish creates and edits that an api left half done."""
        now = minute_of(self._clock.now_ms())
        minutes = {now - age for age in INTENT_AGES}
        if not self._started:
            minutes |= set(range(now - INTENTS_AT_START, now + 1))
        for minute in sorted(minutes - self._looked_at):
            for intent in self._store.jobs.intents(minute):
                done = complete(self._store, self._planner, intent)
                log.info("intent.finished", job_id=intent.job_id, done=done)
        self._looked_at = minutes
        self._started = True

    def _expire(self) -> None:
        now_s = self._clock.monotonic_s()
        if now_s - self._expired_s >= EXPIRE_EVERY_S:
            self._expired_s = now_s
            self._store.expire(now_ms=self._clock.now_ms(), limit=EXPIRE_ROWS)
