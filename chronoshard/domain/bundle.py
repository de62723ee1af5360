"""What travels through the broker: identities, never truth."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from chronoshard.domain.identity import AttemptKey, Partition
from chronoshard.domain.job import Head

VERSION = 1
MAX_ATTEMPTS = 100  # what one conditional batch carries well
MAX_RELEASES = 5  # an attempt released that often without being claimed is poison
ALONE_FROM_RELEASE = 3  # from here on it travels alone, so that it cannot take its neighbours down


class Queue(NamedTuple):
    """Where a bundle waits. Lower `priority` numbers go first; `slice` = shard % slices."""

    tier: int
    priority: int
    slice: int


class Item(msgspec.Struct, frozen=True, array_like=True):
    """One attempt; `releases` counts how often the audit has released it again."""

    key: AttemptKey
    releases: int = 0


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """1 to MAX_ATTEMPTS attempts of one partition, tier, priority and runtime.

    `exclusive`: their jobs forbid overlap, so each must become its job's live run before it is claimed.
    """

    minute: int
    shard: int
    tier: int
    priority: int
    runtime: str
    items: list[Item]
    exclusive: bool = False
    version: int = VERSION

    @property
    def partition(self) -> Partition:
        return Partition(self.minute, self.shard)

    def queue(self, slices: int) -> Queue:
        return Queue(self.tier, self.priority, self.shard % slices)


def bundles_of(partition: Partition, attempts: Iterable[tuple[Item, Head]]) -> list[Bundle]:
    """Pack attempts of one partition, the most urgent first; what was released often travels alone."""
    groups: dict[tuple[int, int, str, bool, int], list[Item]] = {}
    for number, (item, head) in enumerate(attempts):
        alone = number + 1 if item.releases >= ALONE_FROM_RELEASE else 0
        group = (head.priority, head.tier, head.runtime, head.overlap != "allow", alone)
        groups.setdefault(group, []).append(item)
    return [
        Bundle(
            minute=partition.minute,
            shard=partition.shard,
            tier=tier,
            priority=priority,
            runtime=runtime,
            items=items[start : start + MAX_ATTEMPTS],
            exclusive=exclusive,
        )
        for (priority, tier, runtime, exclusive, _), items in sorted(groups.items(), key=lambda group: group[0])
        for start in range(0, len(items), MAX_ATTEMPTS)
    ]
