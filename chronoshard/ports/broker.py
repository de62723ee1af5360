"""The queues between shard workers and orchestrators."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from chronoshard.domain.bundle import Bundle, Queue


class Delivery(Protocol):
    """A bundle that one consumer holds until it is acknowledged. A lost consumer's deliveries come again."""

    @property
    def bundle(self) -> Bundle: ...

    @property
    def redelivered(self) -> bool: ...


class Consumer(Protocol):
    """One orchestrator's hold on the queues of its slices."""

    def receive(self, *, timeout_s: float) -> Sequence[Delivery]:
        """Wait for bundles, at most the prefetch at once.

        Higher tiers' and priorities' order: a lower priority is served only while no higher one waits, but for
        a fixed ageing share, so that nothing starves.
        """

    def ack(self, deliveries: Sequence[Delivery]) -> None:
        """Forget them. Only after a durable claim, a final state, a confirmed republish or the dead letters."""

    def give_back(self, deliveries: Sequence[Delivery]) -> None:
        """Let them be delivered again, to anyone."""

    def bury(self, delivery: Delivery, reason: str) -> None:
        """Move it to the dead letters with the reason."""

    def serve(self, slices: Collection[int]) -> None:
        """Consume these slices from now on; what is held of others stays held."""

    def wake(self) -> None:
        """Let a waiting `receive` return at once."""

    def close(self) -> None:
        """Give back everything that is held."""


class Broker(Protocol):
    """Priority queues of bundles, one per (tier, priority, slice). At least once, any order within a queue."""

    def publish(self, bundles: Sequence[Bundle]) -> list[Bundle]:
        """Publish and wait for the confirms; return those that were not confirmed or had nowhere to go."""

    def consumer(self, name: str, *, prefetch: int) -> Consumer: ...

    def depths(self) -> Mapping[Queue, int]:
        """Return how many bundles wait (not held) in each queue that is not empty."""

    def dead_letters(self, limit: int) -> list[tuple[Bundle, str]]:
        """Return the newest buried bundles with their reasons."""
