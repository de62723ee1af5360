"""The builtin tasks `noop`, `sleep S` and `fail CODE`: run by the executor itself, for probes and benchmarks.

One heap and one thread for all that sleep, however many: no process, no thread of their own.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Sequence
from threading import Condition, Thread
from typing import NamedTuple

from chronoshard.clock import Clock
from chronoshard.errors import InvalidInput
from chronoshard.executor.attempts import Attempt
from chronoshard.executor.ending import SILENT, result_of, timeout_error
from chronoshard.link import Result

KNOWN = 10_000  # different tasks remembered
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


class Builtins:
    """Runs them. `finish` is given what has ended; it ignores what had ended before.

    `may_run` says whether a beat of this executor still counts: after a freeze, what slept through its
    executor's silence did not succeed.
    """

    def __init__(
        self,
        executor: str,
        clock: Clock,
        finish: Callable[[Sequence[tuple[Attempt, Result]]], None],
        may_run: Callable[[], bool],
    ) -> None:
        self._executor = executor
        self._clock = clock
        self._finish = finish
        self._may_run = may_run
        self._known: dict[str, Builtin] = {}
        self._heap: list[tuple[float, int, Attempt]] = []
        self._added = 0  # breaks ties in the heap
        self._changed = Condition()
        self._stopped = False
        self._thread: Thread | None = None

    def is_instant(self, task_id: str) -> bool:
        """Whether the task is known, and takes no time."""
        known = self._known.get(task_id)
        return known is not None and known.sleep_s == 0

    def knows(self, task_id: str) -> bool:
        return task_id in self._known

    def learn(self, task_id: str, source: bytes) -> None:
        """Keep what a task does. Raises InvalidInput (`task.builtin`)."""
        if len(self._known) >= KNOWN:
            self._known.clear()
        self._known[task_id] = parse_builtin(source)

    def run(self, attempt: Attempt) -> None:
        """Have it end in its time. Its task must be known."""
        order = attempt.order
        delay_s = min(self._known[order.task_id].sleep_s, order.timeout_ms / 1000)
        at_s = self._clock.monotonic_s() + delay_s
        with self._changed:
            self._added += 1
            heapq.heappush(self._heap, (at_s, self._added, attempt))
            if self._thread is None:
                self._thread = Thread(target=self._run, name="executor-builtins", daemon=True)
                self._thread.start()
            if self._heap[0][2] is attempt:
                self._changed.notify()

    def result(self, attempt: Attempt) -> Result:
        """Return how an attempt ends whose time has come."""
        builtin, order, now_ms = self._known[attempt.order.task_id], attempt.order, self._clock.now_ms()
        if not self._may_run():
            return result_of(attempt, self._executor, "LOST", finished_ms=now_ms, error=SILENT)
        if builtin.sleep_s * 1000 > order.timeout_ms:
            return result_of(attempt, self._executor, "TIMED_OUT", finished_ms=now_ms, error=timeout_error(order))
        code = builtin.exit_code
        return result_of(
            attempt,
            self._executor,
            "FAILED" if code else "SUCCEEDED",
            finished_ms=now_ms,
            exit_code=code,
            error=f"exit code {code}" if code else None,
        )

    def stop(self) -> None:
        """Let nothing end any more."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        if self._thread:
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                if self._stopped:
                    return
                due = self._due()
                if not due:
                    self._changed.wait(self._heap[0][0] - self._clock.monotonic_s() if self._heap else None)
            if due:
                self._finish([(attempt, self.result(attempt)) for attempt in due])

    def _due(self) -> list[Attempt]:
        now_s = self._clock.monotonic_s()
        due = []
        while self._heap and self._heap[0][0] <= now_s:
            due.append(heapq.heappop(self._heap)[2])
        return due
