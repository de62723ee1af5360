"""Adapters that a test holds in its hand: a clock, a broker that loses things, an executor that does as told."""

from __future__ import annotations

from collections.abc import Sequence

from chronoshard.adapters.local_broker import LocalBroker
from chronoshard.adapters.local_coordination import LocalCoordination
from chronoshard.domain.identity import AttemptKey
from chronoshard.errors import LinkRefused, LinkTimeout
from chronoshard.link import (
    Beat,
    Fence,
    Grant,
    Pong,
    ReserveRequest,
    StartAnswer,
    StartOrder,
    Stream,
    Tail,
)
from chronoshard.ports import Consumer, Term

EVERYTHING = 1_000


class HandClock:
    """Implements Clock. `advance` moves wall and monotonic time; `offset_ms` is how wrong the wall clock is."""

    def __init__(self, source: HandClock | None = None, *, offset_ms: int = 0) -> None:
        self._source = source
        self._elapsed_ms = 0
        self._offset_ms = offset_ms

    def now_ms(self) -> int:
        return 1_800_000_000_000 + self.elapsed_ms + self._offset_ms

    def monotonic_s(self) -> float:
        return 5_000.0 + self.elapsed_ms / 1000

    @property
    def elapsed_ms(self) -> int:
        return self._source.elapsed_ms if self._source is not None else self._elapsed_ms

    def advance(self, seconds: float) -> None:
        self._elapsed_ms += round(seconds * 1000)


class PromptBroker(LocalBroker):
    """Its consumers can be told not to wait; it can lose what waits in it."""

    def __init__(self, *, slices: int) -> None:
        super().__init__(slices=slices)
        self.all_slices = range(slices)
        self.consumers: list[Consumer] = []

    def consumer(self, name: str, *, prefetch: int) -> Consumer:
        consumer = super().consumer(name, prefetch=prefetch)
        self.consumers.append(consumer)
        return consumer

    def hurry(self) -> None:
        """Let the next receive of each consumer return at once."""
        for consumer in self.consumers:
            consumer.wake()

    def lose_everything(self) -> int:
        """Forget all that waits; return how many bundles that were."""
        thief = super().consumer("thief", prefetch=EVERYTHING)
        thief.serve(self.all_slices)
        thief.wake()
        taken = thief.receive(timeout_s=0)
        thief.ack(taken)
        thief.close()
        return len(taken)


class PromptCoordination(LocalCoordination):
    """Waits for nothing, and can end a leader's session."""

    _term: Term | None = None

    def campaign(self, name: str) -> Term | None:
        term = super().campaign(name)
        self._term = term or self._term
        return term

    def wait_for_change(self, seen: int, *, timeout_s: float) -> int:
        return super().wait_for_change(seen, timeout_s=0)

    def end_session(self) -> None:
        """End the session of whoever leads, who does not hear of it."""
        assert self._term is not None
        self.expire(self._term)


class ScriptedExecutor:
    """Implements ExecutorLink. `starts` has every order that was accepted, repeats of the same order left out."""

    def __init__(self, name: str, *, slots: int = 100) -> None:
        self.name = name
        self.incarnation = f"{name}-0001"
        self.slots = slots
        self.silent = False  # no beats
        self.away = False  # cannot be reached
        self.lost_replies = 0  # of the next starts, after they were accepted
        self.refusals = 0  # of the next starts
        self.starts: list[StartOrder] = []
        self.refused: list[StartOrder] = []
        self.fences: list[tuple[AttemptKey, Fence]] = []
        self._sequence = 0
        self._never: set[AttemptKey] = set()

    @property
    def address(self) -> str:
        return f"local://{self.name}"

    def beat(self) -> Beat:
        self._sequence += 1
        return Beat(
            executor=self.name,
            incarnation=self.incarnation,
            sequence=self._sequence,
            address=self.address,
            slots=self.slots,
            free=self.slots,
            load=0.0,
            runtimes=["builtin", "shell"],
            labels={},
            tier=1,
            sandbox="none",
            attempts=[order.key for order in self.starts],
            leftovers_done=True,
        )

    def reserve(self, request: ReserveRequest) -> Grant:
        self._reach()
        return Grant("r", min(self.slots, request.slots), self.incarnation)

    def renew(self, reservation: str) -> bool:
        self._reach()
        return True

    def release(self, reservation: str) -> None:
        self._reach()

    def start(self, reservation: str, orders: Sequence[StartOrder]) -> list[StartAnswer]:
        self._reach()
        if self.refusals:
            self.refusals -= 1
            self.refused += orders
            return [StartAnswer(accepted=False, reason="told to")] * len(orders)
        answers = [self._start(order) for order in orders]
        if self.lost_replies:
            self.lost_replies -= 1
            raise LinkTimeout("the reply was lost")
        return answers

    def fence(self, incarnation: str, keys: Sequence[AttemptKey]) -> list[Fence]:
        self._reach()
        answers: list[Fence] = [
            "running" if any(order.key == key for order in self.starts) else "refused" for key in keys
        ]
        self._never.update(key for key, answer in zip(keys, answers, strict=True) if answer == "refused")
        self.fences += zip(keys, answers, strict=True)
        return answers

    def kill(self, incarnation: str, keys: Sequence[AttemptKey], reason: str) -> None:
        self._reach()

    def tail(self, key: AttemptKey, stream: Stream, offset: int, limit: int) -> Tail | None:
        return None

    def ping(self) -> Pong:
        self._reach()
        return Pong(self.name, self.incarnation, self.slots, draining=False)

    def _reach(self) -> None:
        if self.away:
            raise LinkRefused("nobody listens")

    def _start(self, order: StartOrder) -> StartAnswer:
        if order.key in self._never:
            return StartAnswer(accepted=False, reason="fenced")
        if order not in self.starts:
            self.starts.append(order)
        return StartAnswer(accepted=True)
