"""From a bundle to started attempts: reserve, claim, check, start; and what to do when an answer is lost.

Slots are reserved before anything is claimed, so an attempt that no one has room for stays free. A claim moves to
another executor only when the first has certainly not started the attempt and never will (invariant 4).
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import structlog

from chronoshard.batches import apply_all
from chronoshard.clock import Clock
from chronoshard.domain.attempt import Claim, Move, Row
from chronoshard.domain.identity import AttemptKey
from chronoshard.domain.liveness import Incarnation
from chronoshard.domain.states import State
from chronoshard.errors import LinkError, LinkRefused, LinkTimeout
from chronoshard.failpoints import failpoint
from chronoshard.link import RESERVATION_S, StartAnswer, StartOrder
from chronoshard.orchestrator.fleet import Fleet, Place
from chronoshard.orchestrator.live import Live
from chronoshard.orchestrator.orders import Orders
from chronoshard.orchestrator.pending import Pending, Unsure
from chronoshard.orchestrator.refusing import Refusing
from chronoshard.overlap import take
from chronoshard.ports import Coordination, Store

log = structlog.get_logger(__name__)

START_TRIES = 3  # the same order, idempotent at the executor
RENEW_AFTER_S = RESERVATION_S / 2  # a claim that took that long: the slots are held a little longer
MAX_REFUSALS = 3  # of starts of one claimed attempt, after which it is given up as lost
RECHECK_S = 2.0  # a start that comes later than this after the check of the heads checks again
REFUSED = StartAnswer(accepted=False, reason="connection refused")


class Placing:
    def __init__(
        self,
        name: str,
        store: Store,
        coordination: Coordination,
        clock: Clock,
        fleet: Fleet,
        live: Live,
        orders: Orders,
        refusing: Refusing,
    ) -> None:
        self._name = name
        self._store = store
        self._coordination = coordination
        self._clock = clock
        self._fleet = fleet
        self._live = live
        self._orders = orders
        self._refusing = refusing
        self.foreign: dict[AttemptKey, tuple[Row, float]] = {}

    def place(self, pending: Pending) -> bool:
        """Start what can be started now; say whether nothing is left, so that its message may be acked."""
        self._resolve(pending)
        pending.drop(key for key in pending.fresh if self._live.was_claimed(key))
        while keys := self._ready(pending):
            place = self._fleet.reserve(runtime=pending.runtime, tier=pending.tier, slots=len(keys))
            if place is None:
                return False
            failpoint("orchestrator.reserved")
            self._claim_and_start(pending, keys[: place.slots], place)
        return pending.is_done

    def _ready(self, pending: Pending) -> list[AttemptKey]:
        """Return what may be claimed now: of jobs that forbid overlap, the live run only."""
        keys = [*pending.claimed, *pending.fresh]
        if not pending.exclusive:
            return keys
        heads = self._store.jobs.heads({key.job_id for key in keys})
        return [
            key
            for key in keys
            if (head := heads.get(key.job_id)) is None
            or head.overlap == "allow"
            or take(self._store, head, key.run)
        ]

    def _claim_and_start(self, pending: Pending, keys: Sequence[AttemptKey], place: Place) -> None:
        token = f"{self._name}.{uuid.uuid4().hex}"
        reserved_s = self._clock.monotonic_s()
        now_ms = self._clock.now_ms()
        changes = [
            Move(key, pending.claimed[key], token, *place.incarnation, now_ms)
            if key in pending.claimed
            else Claim(key, token, *place.incarnation, now_ms)
            for key in keys
        ]
        applied = apply_all(self._store.timetable, pending.partition, changes)
        for change, row in applied.refused:
            pending.drop([change.key])
            self._note_foreign(change.key, row)
        claimed = [change.key for change in applied.done]
        self._live.claimed(claimed)
        failpoint("orchestrator.claimed")
        for key in claimed:
            pending.claim(key, token)
        if self._clock.monotonic_s() - reserved_s > RENEW_AFTER_S:
            self._renew(place)
        self._start(pending, claimed, token, place)

    def _note_foreign(self, key: AttemptKey, row: Row | None) -> None:
        """Remember whose claim stood in the way: if its orchestrator died before the start, it is moved later."""
        if row is None:
            log.warning("row.missing", run_id=key.run.id, attempt=key.attempt)
        elif row.state is State.RUNNING:
            self.foreign.setdefault(key, (row, self._clock.monotonic_s()))

    def _start(self, pending: Pending, keys: Sequence[AttemptKey], token: str, place: Place) -> None:
        tries_that_timed_out = 0
        while tries_that_timed_out < START_TRIES:
            checked_s = self._clock.monotonic_s()
            checked = self._orders.check(keys, token, place)
            failpoint("orchestrator.checked")
            self._refusing.refuse(pending.partition, checked.refused, token)
            pending.drop(key for key, _ in checked.refused)
            orders = [order for _, order in checked.start]
            keys = [order.key for order in orders]
            if self._clock.monotonic_s() - checked_s > RECHECK_S:
                continue
            self._live.start(started for started, _ in checked.start)
            try:
                answers = place.link.start(place.reservation, orders) if orders else []
            except LinkRefused as error:
                if tries_that_timed_out:
                    break  # an earlier try may have got through before it went away
                answers = [REFUSED] * len(orders)
                self._fleet.suspect(place.incarnation)
                log.warning("start.refused", executor=place.incarnation.executor, cause=error.detail)
            except LinkTimeout:
                tries_that_timed_out += 1
                continue
            self._note_answers(pending, orders, answers)
            self._give_back(place, len(orders))
            return
        self._live.end(keys)
        for key in keys:
            pending.doubt(key, Unsure(token, place.incarnation, self._clock.monotonic_s()))
        self._fleet.suspect(place.incarnation)

    def _renew(self, place: Place) -> None:
        try:
            place.link.renew(place.reservation)
        except LinkError:
            return  # the start will tell

    def _give_back(self, place: Place, used: int) -> None:
        """Return the slots that were not needed; they would run out by themselves."""
        if used < place.slots:
            try:
                place.link.release(place.reservation)
            except LinkError:
                return

    def _note_answers(
        self, pending: Pending, orders: Sequence[StartOrder], answers: Sequence[StartAnswer]
    ) -> None:
        failpoint("orchestrator.started")
        for order, answer in zip(orders, answers, strict=True):
            if answer.accepted:
                pending.drop([order.key])
                continue
            self._live.end([order.key])
            log.info("start.refused", run_id=order.key.run.id, reason=answer.reason)
            if pending.refused(order.key) >= MAX_REFUSALS:  # nobody can start it: the next attempt may fare better
                self._refusing.give_up(pending.partition, order.key, order.token, answer.reason)
                pending.drop([order.key])

    def _resolve(self, pending: Pending) -> None:
        """Ask about starts whose answer was lost; only a refusal for ever lets the claim move."""
        groups: dict[Incarnation, list[AttemptKey]] = {}
        for key, unsure in pending.unsure.items():
            groups.setdefault(unsure.incarnation, []).append(key)
        for incarnation, keys in groups.items():
            link = self._fleet.link(incarnation)
            try:
                if link is None:
                    raise LinkRefused("no beat of it was heard lately")
                answers = link.fence(incarnation.id, keys)
            except LinkError:
                # Whoever condemns it, or its next incarnation, ends what it may have started.
                if link is None or self._coordination.is_condemned(incarnation):
                    pending.drop(keys)
                continue
            for key, answer in zip(keys, answers, strict=True):
                unsure = pending.unsure.pop(key)
                if answer == "refused":
                    pending.claim(key, unsure.token)
                else:
                    pending.drop([key])
