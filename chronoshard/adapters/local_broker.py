"""Priority queues inside one process.

At least once: what a consumer holds comes again when it is given back or the consumer closes. Bounded: what does
not fit is returned as not confirmed, so that the publisher keeps it (invariant 11). Nothing outlives the process,
and nothing has to: the audit releases again what was lost here (invariant 9).
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import cast

from chronoshard.domain.bundle import MAX_ATTEMPTS, Bundle, Queue
from chronoshard.errors import InvalidInput, Unavailable
from chronoshard.ports import Consumer, Delivery

LEVELS = range(1, 4)  # of tiers and of priorities; lower numbers go first
MAX_HELD_ATTEMPTS = 100_000  # waiting or with consumers, about 30 MB; beyond it publishers keep theirs
MAX_DEAD_LETTERS = 1_000  # bundles; the oldest make room
AGEING_EVERY = 20  # each 20th bundle is the one of a lower priority that waits longest: nothing starves


class _Delivery:
    """A bundle on its way; an object of its own for each delivery, so that a late ack hits no later one."""

    __slots__ = ("bundle", "queue", "redelivered", "sequence")

    def __init__(self, bundle: Bundle, queue: Queue, sequence: int, *, redelivered: bool) -> None:
        self.bundle = bundle
        self.queue = queue
        self.sequence = sequence
        self.redelivered = redelivered

    def again(self) -> _Delivery:
        return _Delivery(self.bundle, self.queue, self.sequence, redelivered=True)


def _rank(queue: Queue) -> tuple[int, int]:
    """Return the place of a queue's bundles in the order of service: priority first, then tier 1 before 2."""
    return queue.priority, queue.tier


class LocalBroker:
    """Implements Broker. `max_attempts` bounds what waits and what consumers hold together."""

    def __init__(self, *, slices: int, max_attempts: int = MAX_HELD_ATTEMPTS) -> None:
        if max_attempts < MAX_ATTEMPTS:
            raise InvalidInput(f"a broker must hold at least one bundle: {max_attempts} < {MAX_ATTEMPTS}")
        self._slices = slices
        self._max_attempts = max_attempts
        self._attempts = 0
        self._sequence = 0
        self._changed = threading.Condition()
        self._waiting: dict[Queue, deque[_Delivery]] = {}  # no queue is empty
        self._consumers: set[_Consumer] = set()
        self._dead: deque[tuple[Bundle, str]] = deque(maxlen=MAX_DEAD_LETTERS)

    def publish(self, bundles: Sequence[Bundle]) -> list[Bundle]:
        """Take what can be routed and fits; return the rest."""
        unconfirmed = []
        with self._changed:
            for bundle in bundles:
                fits = self._attempts + len(bundle.items) <= self._max_attempts
                if fits and bundle.tier in LEVELS and bundle.priority in LEVELS:
                    self._attempts += len(bundle.items)
                    self._sequence += 1
                    queue = bundle.queue(self._slices)
                    delivery = _Delivery(bundle, queue, self._sequence, redelivered=False)
                    self._waiting.setdefault(queue, deque()).append(delivery)
                else:
                    unconfirmed.append(bundle)
            self._changed.notify_all()
        return unconfirmed

    def consumer(self, name: str, *, prefetch: int) -> Consumer:
        """Return a consumer that holds at most `prefetch` bundles at once."""
        with self._changed:
            consumer = _Consumer(self, name, prefetch)
            self._consumers.add(consumer)
            return consumer

    def depths(self) -> Mapping[Queue, int]:
        """Return how many bundles wait in each queue that is not empty."""
        with self._changed:
            return {queue: len(waiting) for queue, waiting in self._waiting.items()}

    def dead_letters(self, limit: int) -> list[tuple[Bundle, str]]:
        """Return the newest buried bundles with their reasons, the newest first."""
        with self._changed:
            return list(islice(reversed(self._dead), limit))

    def _take(self, consumer: _Consumer) -> list[_Delivery]:
        """Take what `consumer` may have now, in the order of service."""
        taken: list[_Delivery] = []
        share = self._share(consumer) if consumer.room > 0 else Counter()
        while len(taken) < consumer.room:
            queues = [queue for queue in self._waiting if share[queue.slice] > 0]
            if not queues:
                break
            queue = self._next(queues, ageing=consumer.served % AGEING_EVERY == AGEING_EVERY - 1)
            consumer.served += 1
            share[queue.slice] -= 1
            taken.append(self._waiting[queue].popleft())
            if not self._waiting[queue]:
                del self._waiting[queue]
        return taken

    def _share(self, consumer: _Consumer) -> Counter[int]:
        """Return how many bundles of each slice it may take: all, or its part where others have room as well."""
        waiting: Counter[int] = Counter()
        for queue, deliveries in self._waiting.items():
            if queue.slice in consumer.slices:
                waiting[queue.slice] += len(deliveries)
        for number in waiting:
            takers = sum(1 for other in self._consumers if other.room > 0 and number in other.slices)
            waiting[number] = -(-waiting[number] // takers)
        return waiting

    def _next(self, queues: Collection[Queue], *, ageing: bool) -> Queue:
        """Return the queue whose first bundle goes next: of the first rank, or of a later one if ageing is due."""
        first = min(map(_rank, queues))
        if ageing and (later := [queue for queue in queues if _rank(queue) != first]):
            return min(later, key=self._oldest)
        return min((queue for queue in queues if _rank(queue) == first), key=self._oldest)

    def _oldest(self, queue: Queue) -> int:
        return self._waiting[queue][0].sequence

    def _return(self, deliveries: Iterable[_Delivery]) -> None:
        """Put them back where they were, before what was published later."""
        for delivery in sorted(deliveries, key=lambda delivery: -delivery.sequence):
            waiting = self._waiting.setdefault(delivery.queue, deque())
            waiting.appendleft(delivery.again())
        self._changed.notify_all()


class _Consumer:
    """One orchestrator's hold. Every method runs under the broker's one lock."""

    def __init__(self, broker: LocalBroker, name: str, prefetch: int) -> None:
        self._broker = broker
        self._changed = broker._changed
        self._name = name
        self._prefetch = prefetch
        self._held: set[_Delivery] = set()
        self._woken = False
        self._closed = False
        self.slices: frozenset[int] = frozenset()
        self.served = 0

    @property
    def room(self) -> int:
        return self._prefetch - len(self._held)

    def receive(self, *, timeout_s: float) -> Sequence[Delivery]:
        """Wait for bundles, or until woken; while the prefetch is used up there are none."""
        taken: list[_Delivery] = []

        def ready() -> bool:
            if self._closed:
                raise Unavailable(f"the consumer {self._name} is closed", code="unavailable.broker")
            taken.extend(self._broker._take(self))
            return bool(taken) or self._woken

        with self._changed:
            self._changed.wait_for(ready, timeout_s)
            self._woken = False
            self._held.update(taken)
        return taken

    def ack(self, deliveries: Sequence[Delivery]) -> None:
        """Forget them; what is not held any more is on its way to somebody else and stays."""
        with self._changed:
            self._forget(self._holding(deliveries))

    def give_back(self, deliveries: Sequence[Delivery]) -> None:
        """Let them be delivered again, to anyone."""
        with self._changed:
            held = self._holding(deliveries)
            self._held -= held
            self._broker._return(held)

    def bury(self, delivery: Delivery, reason: str) -> None:
        """Move it to the dead letters with the reason."""
        with self._changed:
            for held in self._holding([delivery]):
                self._broker._dead.append((held.bundle, reason))
                self._forget({held})

    def serve(self, slices: Collection[int]) -> None:
        """Consume these slices from now on; what is held of others stays held."""
        with self._changed:
            self.slices = frozenset(slices)
            self._changed.notify_all()

    def wake(self) -> None:
        """Let a waiting `receive` return at once, or the next one if none waits just now."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def close(self) -> None:
        """Give back everything that is held."""
        with self._changed:
            self._closed = True
            self._broker._consumers.discard(self)
            held, self._held = self._held, set()
            self._broker._return(held)

    def _holding(self, deliveries: Sequence[Delivery]) -> set[_Delivery]:
        return {delivery for delivery in cast("Sequence[_Delivery]", deliveries) if delivery in self._held}

    def _forget(self, held: set[_Delivery]) -> None:
        self._held -= held
        self._broker._attempts -= sum(len(delivery.bundle.items) for delivery in held)
        self._changed.notify_all()
