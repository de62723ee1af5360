"""What travels through the broker: identities, never truth."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from chronoshard.domain.identity import AttemptKey, Partition

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
    """1 to MAX_ATTEMPTS attempts of one partition, tier and priority."""

    minute: int
    shard: int
    tier: int
    priority: int
    items: list[Item]
    version: int = VERSION

    @property
    def partition(self) -> Partition:
        return Partition(self.minute, self.shard)

    def queue(self, slices: int) -> Queue:
        return Queue(self.tier, self.priority, self.shard % slices)
