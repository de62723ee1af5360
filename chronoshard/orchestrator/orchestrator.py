"""The loop of an orchestrator, and what executors reach it by.

It acks a message only when each of its attempts is started, final, another's, or published again (invariant 8).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import structlog

from chronoshard.clock import Clock
from chronoshard.domain.attempt import Row
from chronoshard.domain.bundle import Bundle, Item
from chronoshard.domain.identity import AttemptKey, partition_of
from chronoshard.domain.liveness import Incarnation
from chronoshard.errors import LinkError, Unavailable
from chronoshard.failpoints import failpoint
from chronoshard.following import Following
from chronoshard.link import Address, Beat, BeatAnswer, ExecutorLink, Result
from chronoshard.orchestrator.fleet import Fleet
from chronoshard.orchestrator.live import Live
from chronoshard.orchestrator.orders import Limits, Orders
from chronoshard.orchestrator.pending import Pending
from chronoshard.orchestrator.placing import Placing
from chronoshard.orchestrator.refusing import Refusing
from chronoshard.orchestrator.results import Results
from chronoshard.ports import Broker, Coordination, Member, Store
from chronoshard.service import Service

log = structlog.get_logger(__name__)

PREFETCH = 32  # bundles
HOLD_S = 10.0  # what cannot be placed for that long goes back to the queue, for others
ASK_FOREIGN_AFTER_S = 10.0  # another's claim without a start is asked about
IDLE_S = 1.0


class Orchestrator:
    """Serves OrchestratorLink to executors."""

    def __init__(
        self,
        name: str,
        url: str,
        store: Store,
        broker: Broker,
        coordination: Coordination,
        following: Following,
        clock: Clock,
        links: Callable[[str], ExecutorLink],
        *,
        shards: int,
        limits: Limits,
    ) -> None:
        self.name = name
        self._member = Member("orchestrator", name, url)
        self._store = store
        self._broker = broker
        self._coordination = coordination
        self._clock = clock
        self._shards = shards
        self._fleet = Fleet(name, store, clock, links)
        self._live = Live()
        self._results = Results(name, store, following, self._live, shards=shards)
        refusing = Refusing(store.timetable, following, clock)
        orders = Orders(store, limits)
        self._placing = Placing(name, store, coordination, clock, self._fleet, self._live, orders, refusing)
        self._consumer = broker.consumer(name, prefetch=PREFETCH)
        self._pending: list[Pending] = []
        self._slices: set[int] = set()
        self._service = Service(f"orchestrator {name}", self.tick)

    def start(self) -> None:
        self._coordination.join(self._member)
        self._results.start()
        self._service.start()

    def stop(self) -> None:
        self._service.stop(also_wake=self._consumer.wake)
        self._results.stop()
        self._consumer.close()
        self._coordination.leave(self._member)

    def tick(self) -> float:
        """Place what is held, then what the queues have."""
        self._take_slices()
        self._fleet.refresh()
        self._ask_about_foreign()
        self._place_pending()
        if len(self._pending) >= PREFETCH:
            return IDLE_S
        for delivery in self._consumer.receive(timeout_s=IDLE_S):
            self._pending.append(Pending.of(delivery, self._clock.monotonic_s()))
        self._place_pending()
        return 0.0

    def beat(self, beat: Beat) -> BeatAnswer:
        """Record an executor's sign of life; see OrchestratorLink."""
        incarnation = Incarnation(beat.executor, beat.incarnation)
        recorded = self._record(beat)
        condemned = self._is_condemned(incarnation)
        counted = condemned is False or (condemned is None and recorded)
        kills, drain = self._standing_orders(incarnation)
        if not condemned:
            self._fleet.note(beat)
            self._wake()
        return BeatAnswer(counted, bool(condemned), kills, self._addresses(), drain)

    def results(self, executor: str, batch: Sequence[Result]) -> list[bool]:
        """Make results final; see OrchestratorLink."""
        accepted = self._results.accept(batch)
        self._wake()
        return accepted

    def _record(self, beat: Beat) -> bool:
        try:
            self._store.executors.record(beat)
        except Unavailable:
            return False
        return True

    def _is_condemned(self, incarnation: Incarnation) -> bool | None:
        """None: nobody could be asked."""
        try:
            return self._coordination.is_condemned(incarnation)
        except Unavailable:
            return None

    def _standing_orders(self, incarnation: Incarnation) -> tuple[list[AttemptKey], bool]:
        try:
            kills = self._store.executors.kills(incarnation)
            return kills, incarnation.executor in self._store.executors.draining()
        except Unavailable:
            return [], False

    def _addresses(self) -> list[Address]:
        try:
            members = self._coordination.members("orchestrator")
        except Unavailable:
            members = [self._member]
        return [Address(member.name, member.url) for member in members]

    def _wake(self) -> None:
        if self._pending:
            self._consumer.wake()
            self._service.wake()

    def _take_slices(self) -> None:
        try:
            assigned = self._coordination.assignments().slices
        except Unavailable:
            return
        slices = {number for number, owner in assigned.items() if owner == self.name}
        if slices != self._slices:
            self._slices = slices
            self._consumer.serve(slices)

    def _place_pending(self) -> None:
        """Place in order of priority; ack what is done, publish again what has been held too long."""
        self._pending.sort(key=lambda pending: (pending.bundle.priority, pending.since_s))
        held: list[Pending] = []
        for position, pending in enumerate(self._pending):
            try:
                done = self._placing.place(pending)
            except Exception:
                self._pending = held + self._pending[position:]
                raise
            if not done and self._clock.monotonic_s() - pending.since_s > HOLD_S:
                done = self._publish_again(pending)
            if done:
                self._ack(pending)
            else:
                held.append(pending)
        self._pending = held

    def _publish_again(self, pending: Pending) -> bool:
        """Give others a chance; what is claimed or in doubt is this orchestrator's to finish."""
        if pending.fresh:
            items = [Item(key, releases) for key, releases in pending.fresh.items()]
            if self._broker.publish([msgspec.structs.replace(pending.bundle, items=items)]):
                return False
            pending.fresh.clear()
        pending.since_s = self._clock.monotonic_s()
        return pending.is_done

    def _ack(self, pending: Pending) -> None:
        failpoint("orchestrator.before_ack")
        if pending.delivery is not None:
            self._consumer.ack([pending.delivery])

    def _ask_about_foreign(self) -> None:
        """Ask executors about claims of others that stood in the way: was it started, or did its owner die?"""
        now_s = self._clock.monotonic_s()
        foreign = self._placing.foreign
        for key, (row, since_s) in list(foreign.items()):
            if now_s - since_s < ASK_FOREIGN_AFTER_S:
                continue
            del foreign[key]
            assert row.claim is not None
            assert row.executor is not None
            assert row.incarnation is not None
            incarnation = Incarnation(row.executor, row.incarnation)
            link = self._fleet.link(incarnation)
            try:
                refused = link is not None and link.fence(incarnation.id, [key]) == ["refused"]
            except LinkError:
                continue  # condemnation will end it
            head = self._store.jobs.heads([key.job_id]).get(key.job_id) if refused else None
            if head is not None:
                self._pending.append(self._adopted(row, head.runtime, head.priority))

    def _adopted(self, row: Row, runtime: str, priority: int) -> Pending:
        partition = partition_of(row.key, self._shards)
        bundle = Bundle(
            minute=partition.minute,
            shard=partition.shard,
            tier=1,
            priority=priority,
            runtime=runtime,
            items=[Item(row.key)],
        )
        assert row.claim is not None
        return Pending(bundle, None, self._clock.monotonic_s(), claimed={row.key: row.claim})
