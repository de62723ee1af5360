"""Marks and hints inside one process.

Bounded: forgetting a mark only costs a second publish, since the claim decides (invariants 9 and 11).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

import structlog

from chronoshard.clock import Clock
from chronoshard.domain.identity import AttemptKey, Partition
from chronoshard.ports.dedupe import MARK_S

log = structlog.get_logger(__name__)

MAX_MARKS = 100_000  # attempts, about 30 MB; the oldest are forgotten first


class LocalDedupe:
    """Implements Dedupe."""

    def __init__(self, clock: Clock, *, max_marks: int = MAX_MARKS) -> None:
        self._clock = clock
        self._max_marks = max_marks
        self._lock = threading.Lock()
        self._marked_s: dict[AttemptKey, float] = {}  # by the time of the last mark, the oldest first
        self._subscribers: dict[object, Callable[[Partition], None]] = {}

    def marked(self, keys: Sequence[AttemptKey]) -> set[AttemptKey]:
        """Return those whose publish was confirmed within the last MARK_S."""
        with self._lock:
            oldest_s = self._clock.monotonic_s() - MARK_S
            return {key for key in keys if self._marked_s.get(key, oldest_s) > oldest_s}

    def mark(self, keys: Sequence[AttemptKey]) -> None:
        """Remember confirmed publishes."""
        with self._lock:
            now_s = self._clock.monotonic_s()
            for key in keys:
                self._marked_s.pop(key, None)
                self._marked_s[key] = now_s
            self._forget(now_s - MARK_S)

    def hint(self, partitions: Iterable[Partition]) -> None:
        """Tell the subscribers, each on its own: one that fails keeps nothing from the others."""
        with self._lock:
            subscribers = list(self._subscribers.values())
        for partition in partitions:
            for heard in subscribers:
                try:
                    heard(partition)
                except Exception:
                    log.exception("hint.failed", partition=partition)

    def subscribe(self, heard: Callable[[Partition], None]) -> Callable[[], None]:
        """Call `heard` for each hint from now on; the return value ends it, and may be called again."""
        subscription = object()
        with self._lock:
            self._subscribers[subscription] = heard

        def unsubscribe() -> None:
            with self._lock:
                self._subscribers.pop(subscription, None)

        return unsubscribe

    def _forget(self, oldest_s: float) -> None:
        """Drop what has run out, and the oldest beyond the limit."""
        surplus = len(self._marked_s) - self._max_marks
        gone = []
        for number, (key, marked_s) in enumerate(self._marked_s.items()):
            if number >= surplus and marked_s > oldest_s:
                break
            gone.append(key)
        for key in gone:
            del self._marked_s[key]
