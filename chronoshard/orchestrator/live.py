"""What this orchestrator has started and has no result of yet. A memory, never the truth."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence

import msgspec

from chronoshard.domain.attempt import Plan
from chronoshard.domain.identity import AttemptKey
from chronoshard.domain.job import Head, Spec
from chronoshard.domain.liveness import Incarnation

REMEMBERED_CLAIMS = 50_000  # twins of these are dropped without asking the store


class Started(msgspec.Struct, frozen=True):
    """All that is needed to write down the end of an attempt without reading its row again."""

    plan: Plan
    token: str
    incarnation: Incarnation
    head: Head
    spec: Spec


class Live:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started: dict[AttemptKey, Started] = {}
        self._claimed: OrderedDict[AttemptKey, None] = OrderedDict()

    def start(self, started: Iterable[Started]) -> None:
        with self._lock:
            for one in started:
                self._started[one.plan.key] = one

    def get(self, key: AttemptKey, token: str) -> Started | None:
        started = self._started.get(key)
        return started if started is not None and started.token == token else None

    def end(self, keys: Iterable[AttemptKey]) -> None:
        with self._lock:
            for key in keys:
                self._started.pop(key, None)

    def claimed(self, keys: Sequence[AttemptKey]) -> None:
        """Remember what was claimed lately."""
        with self._lock:
            self._claimed.update(dict.fromkeys(keys))
            while len(self._claimed) > REMEMBERED_CLAIMS:
                self._claimed.popitem(last=False)

    def was_claimed(self, key: AttemptKey) -> bool:
        return key in self._claimed
