"""The broker of every adapter in turn, and what its tests say again and again."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chronoshard.adapters.local_broker import LocalBroker
from chronoshard.domain.bundle import Bundle, Item
from chronoshard.domain.identity import AttemptKey
from chronoshard.ports import Broker, Consumer, Delivery

SLICES = 4
DEADLINE_S = 30.0
QUIET_S = 0.05  # nothing that was there would take so long to come


@pytest.fixture(params=["local"])
def broker(request: pytest.FixtureRequest) -> Broker:
    """Return a broker with SLICES slices and nothing in it."""
    return LocalBroker(slices=SLICES)


def bundle(number: int = 0, *, shard: int = 0, tier: int = 1, priority: int = 1, attempts: int = 1) -> Bundle:
    """Return a bundle that differs from those of other numbers."""
    items = [Item(AttemptKey(1_000 + number, "j" * 32, 1_000 + number, 0, attempt)) for attempt in range(attempts)]
    return Bundle(minute=1, shard=shard, tier=tier, priority=priority, runtime="builtin", items=items)


def consume(broker: Broker, *, slices: Sequence[int] = range(SLICES), prefetch: int = 32) -> Consumer:
    consumer = broker.consumer("o1", prefetch=prefetch)
    consumer.serve(slices)
    return consumer


def receive(consumer: Consumer, count: int) -> list[Delivery]:
    """Return `count` deliveries, in the order in which they came."""
    deliveries: list[Delivery] = []
    while len(deliveries) < count:
        received = consumer.receive(timeout_s=DEADLINE_S)
        assert received, f"{len(deliveries)} of {count} came"
        deliveries += received
    return deliveries


def drain(consumer: Consumer) -> list[Bundle]:
    """Receive and acknowledge until nothing is left; return the bundles in the order in which they came."""
    bundles = []
    while received := consumer.receive(timeout_s=QUIET_S):
        bundles += [delivery.bundle for delivery in received]
        consumer.ack(received)
    return bundles
