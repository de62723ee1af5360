"""What may be remembered between requests. Never the truth: what is forgotten is read again.

Specs and the runtimes of tasks never change; tokens are believed for a moment; intents whose work is done are
forgotten in the store many at a time, since one that stays too long only makes a health checker look once more.
"""

from __future__ import annotations

import threading
import uuid
from collections import OrderedDict
from typing import Generic, TypeVar

from chronoshard.domain.access import Token
from chronoshard.domain.job import Intent, Spec

MAX_REMEMBERED = 10_000
TOKEN_S = 1.0  # a token that another api revoked is refused by this one after so long

K = TypeVar("K")
V = TypeVar("V")


class Remembered(Generic[K, V]):
    """The entries used last, safe for several threads."""

    def __init__(self, limit: int = MAX_REMEMBERED) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._entries: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            return self._entries.get(key)

    def put(self, key: K, value: V) -> None:
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            while len(self._entries) > self._limit:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()


class Memory:
    """Of one api process. `instance` tells its reservations from those of other and earlier ones."""

    def __init__(self) -> None:
        self.instance = uuid.uuid4().hex
        self.runtimes: Remembered[str, str] = Remembered()  # by task id
        self.specs: Remembered[tuple[str, int], Spec] = Remembered()
        self.tokens: Remembered[str, tuple[Token, float]] = Remembered(1_000)  # by digest, until when (monotonic)
        self._lock = threading.Lock()
        self._done: list[Intent] = []
        self._under_way: set[tuple[str, str]] = set()

    def done(self, intents: list[Intent]) -> None:
        """Note that what these intents announced has been done."""
        with self._lock:
            self._done += intents

    def take_done(self) -> list[Intent]:
        """Return what was noted since the last call."""
        with self._lock:
            done, self._done = self._done, []
        return done

    def begin(self, scope: str, key: str) -> bool:
        """Note that a request under an idempotency key is under way here; False when one is already."""
        with self._lock:
            if (scope, key) in self._under_way:
                return False
            self._under_way.add((scope, key))
            return True

    def finish(self, scope: str, key: str) -> None:
        with self._lock:
            self._under_way.discard((scope, key))
