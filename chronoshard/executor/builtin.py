"""The builtin tasks `noop`, `sleep S` and `fail CODE`: run by the executor itself, for probes and benchmarks.

One heap and one thread for all that sleep, however many: no process, no thread of their own.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable
from threading import Condition, Thread
from typing import NamedTuple

from chronoshard.clock import Clock
from chronoshard.domain.identity import AttemptKey
from chronoshard.errors import InvalidInput

_SOURCE = re.compile(r"noop|sleep (?P<sleep>\d{1,9}(\.\d{1,6})?)|fail (?P<fail>\d{1,3})")


class Builtin(NamedTuple):
    """What one does: take `sleep_s`, then exit with `exit_code`."""

    sleep_s: float
    exit_code: int


def parse_builtin(source: bytes) -> Builtin:
    """Return what `source` says; raise InvalidInput (`task.builtin`) when it is none of the three."""
    match = _SOURCE.fullmatch(source.decode(errors="replace").strip())
    if match is None or int(match["fail"] or 1) not in range(1, 256):
        raise InvalidInput(
            f"no builtin task {source[:40]!r}",
            code="task.builtin",
            hint="noop, sleep SECONDS or fail CODE (1 to 255)",
        )
    return Builtin(float(match["sleep"] or 0), int(match["fail"] or 0))


class Timers:
    """Calls `due` with the keys whose time has come, in order, on one thread of its own."""

    def __init__(self, clock: Clock, due: Callable[[list[AttemptKey]], None]) -> None:
        self._clock = clock
        self._due = due
        self._heap: list[tuple[float, AttemptKey]] = []
        self._changed = Condition()
        self._stopped = False
        self._thread: Thread | None = None

    def add(self, key: AttemptKey, delay_s: float) -> None:
        """Have `key` called in `delay_s`. It cannot be taken back: the receiver knows whether it still cares."""
        at_s = self._clock.monotonic_s() + delay_s
        with self._changed:
            heapq.heappush(self._heap, (at_s, key))
            if self._thread is None:
                self._thread = Thread(target=self._run, name="executor-timers", daemon=True)
                self._thread.start()
            if self._heap[0][1] == key:
                self._changed.notify()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._heap.clear()
            self._changed.notify()
        if self._thread:
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                if self._stopped:
                    return
                now_s = self._clock.monotonic_s()
                due = []
                while self._heap and self._heap[0][0] <= now_s:
                    due.append(heapq.heappop(self._heap)[1])
                if not due:
                    self._changed.wait(self._heap[0][0] - now_s if self._heap else None)
            if due:
                self._due(due)
