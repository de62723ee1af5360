"""A bundle on its way: which of its attempts are still free, claimed but not started, or in doubt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from chronoshard.domain.bundle import Bundle
from chronoshard.domain.identity import AttemptKey, Partition
from chronoshard.domain.liveness import Incarnation
from chronoshard.ports import Delivery


class Unsure(NamedTuple):
    """A start that was sent and not answered."""

    token: str
    incarnation: Incarnation
    since_s: float


@dataclass(slots=True)
class Pending:
    """Each attempt is in exactly one of `fresh`, `claimed` (with the token it is claimed under), `unsure`.

    `delivery` is None for what did not come from the broker.
    """

    bundle: Bundle
    delivery: Delivery | None
    since_s: float
    fresh: dict[AttemptKey, int] = field(default_factory=dict)  # with how often it was released
    claimed: dict[AttemptKey, str] = field(default_factory=dict)
    unsure: dict[AttemptKey, Unsure] = field(default_factory=dict)
    refusals: dict[AttemptKey, int] = field(default_factory=dict)

    @classmethod
    def of(cls, delivery: Delivery, now_s: float) -> Pending:
        items = {item.key: item.releases for item in delivery.bundle.items}
        return cls(delivery.bundle, delivery, now_s, fresh=items)

    @property
    def partition(self) -> Partition:
        return self.bundle.partition

    @property
    def runtime(self) -> str:
        return self.bundle.runtime

    @property
    def tier(self) -> int:
        return self.bundle.tier

    @property
    def exclusive(self) -> bool:
        return self.bundle.exclusive

    @property
    def is_done(self) -> bool:
        return not (self.fresh or self.claimed or self.unsure)

    def claim(self, key: AttemptKey, token: str) -> None:
        self.fresh.pop(key, None)
        self.claimed[key] = token

    def refused(self, key: AttemptKey) -> int:
        """Count a refused start; return how many there were."""
        self.refusals[key] = self.refusals.get(key, 0) + 1
        return self.refusals[key]

    def doubt(self, key: AttemptKey, unsure: Unsure) -> None:
        self.claimed.pop(key, None)
        self.unsure[key] = unsure

    def drop(self, keys: Iterable[AttemptKey]) -> None:
        for key in list(keys):
            self.fresh.pop(key, None)
            self.claimed.pop(key, None)
            self.unsure.pop(key, None)
