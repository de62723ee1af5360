"""What the api is given, and what it remembers between requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from chronoshard.api.memory import Memory
from chronoshard.clock import Clock
from chronoshard.following import Following
from chronoshard.link import ExecutorLink
from chronoshard.planning import Planner
from chronoshard.ports import Blobs, Broker, Coordination, Store
from chronoshard.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Context:
    """`executor_links` returns the link to the executor at an address that a beat named."""

    store: Store
    blobs: Blobs
    broker: Broker
    coordination: Coordination
    planner: Planner
    following: Following
    clock: Clock
    settings: Settings
    executor_links: Callable[[str], ExecutorLink]
    memory: Memory = field(default_factory=Memory)
