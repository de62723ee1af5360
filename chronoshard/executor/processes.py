"""The attempts of one incarnation that run in processes: launched, killed, their ends turned into results.

All of it goes through the one supervisor. When that dies, the next one first kills what it left, and only then
is what it held called LOST (invariant 4).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from pathlib import Path
from threading import Event, Lock
from typing import Any

import structlog

from chronoshard.clock import Clock
from chronoshard.errors import Unavailable
from chronoshard.executor.attempts import Attempt
from chronoshard.executor.ending import result_of, result_of_report
from chronoshard.executor.launch import Launch
from chronoshard.executor.supervision import Supervision
from chronoshard.failpoints import failpoint
from chronoshard.link import Ended, Result

log = structlog.get_logger(__name__)

RESTART_PAUSE_S = 0.5


class Processes:
    """`finish` is given each end; it ignores what had ended before."""

    def __init__(
        self,
        executor: str,
        incarnation: str,
        lives: Path,
        group: str,
        lanes: int,
        launch: Launch,
        clock: Clock,
        finish: Callable[[Attempt, Result], None],
    ) -> None:
        self._executor = executor
        self._incarnation = incarnation
        self._lives = lives
        self._group = group
        self._launch = launch
        self._clock = clock
        self._finish = finish
        self._lock = Lock()  # keeps a kill behind the start that it is for
        self._free_lanes = list(range(lanes))  # a heap: the lowest free one is used next
        self._lanes: dict[Attempt, int] = {}
        self._sent: dict[str, Attempt] = {}  # what the supervisor has, by the name it knows
        self._cancelled: dict[Attempt, str] = {}
        self._alive_until_s = 0.0
        self._over = Event()
        self._supervision: Supervision | None = self._supervise()

    @property
    def limits(self) -> str:
        """What holds the limits of memory and processes here."""
        supervision = self._supervision
        return supervision.limits if supervision else ""

    def run(self, attempt: Attempt) -> None:
        """Prepare and send one attempt.

        Raises what Launch.prepare raises: then it does not run, and either this or `give_up` is called next.
        """
        with self._lock:
            if attempt not in self._lanes:  # it may be tried again
                self._lanes[attempt] = heapq.heappop(self._free_lanes)
        message = self._launch.prepare(attempt.order, lane=self._lanes[attempt])
        attempt.directory = self._launch.directory(attempt.order)
        failpoint("executor.prepared")
        with self._lock:
            cancelled, supervision = self._cancelled.get(attempt), self._supervision
            if cancelled is None and supervision is not None:
                self._sent[attempt.order.key.name] = attempt
                supervision.send(message)
                return
        if cancelled is not None:
            self._end(attempt, "CANCELLED", cancelled)
        else:
            self._end(attempt, "LOST", "the supervisor of the executor was away")

    def give_up(self, attempt: Attempt) -> str | None:
        """Let go of one that could not be prepared; return why it was cancelled, if it was."""
        return self._drop(attempt)

    def kill(self, attempt: Attempt, reason: str) -> None:
        """End it as CANCELLED; before it is sent, by never sending it."""
        name = attempt.order.key.name
        with self._lock:
            if attempt.ended:
                return
            first = self._cancelled.setdefault(attempt, reason) is reason
            if first and name in self._sent and self._supervision is not None:
                self._supervision.send({"op": "kill", "id": name})

    def keep_alive(self, until_s: float) -> None:
        """Let what runs live until this boot time."""
        with self._lock:
            self._alive_until_s = max(self._alive_until_s, until_s)
            if self._supervision is not None:
                self._supervision.keep_alive(until_s)

    def check(self) -> None:
        """End a supervisor that is stuck."""
        with self._lock:
            if self._supervision is not None:
                self._supervision.check()

    def end(self) -> None:
        """Kill everything; return when nothing lives."""
        self._over.set()
        with self._lock:
            supervision, self._supervision = self._supervision, None
        if supervision is not None:
            supervision.close()

    def _supervise(self) -> Supervision:
        return Supervision(
            lives=self._lives,
            incarnation=self._incarnation,
            group=self._group,
            heard=self._heard,
            gone=self._supervisor_gone,
        )

    def _heard(self, event: dict[str, Any]) -> None:
        with self._lock:
            attempt = self._sent.get(event["id"])
        if attempt is None:
            return
        if event["event"] == "started":
            attempt.started_ms = self._clock.now_ms()
            return
        cancelled = self._drop(attempt)
        result = result_of_report(
            attempt,
            self._executor,
            event,
            cancelled=cancelled,
            sandboxed=self._launch.sandboxed,
            finished_ms=self._clock.now_ms(),
        )
        self._finish(attempt, result)

    def _supervisor_gone(self) -> None:
        """Replace it; called on the thread of the one that died."""
        with self._lock:
            self._supervision = None
            held = list(self._sent.values())
        log.error("executor.supervisor_gone", running=len(held))
        supervision = None
        while supervision is None and not self._over.is_set():
            try:
                supervision = self._supervise()
            except Unavailable:
                self._over.wait(RESTART_PAUSE_S)
        if supervision is None:
            return
        for attempt in held:
            self._end(attempt, "LOST", "the supervisor of the executor died")
        with self._lock:
            if not self._over.is_set():
                supervision.keep_alive(self._alive_until_s)
                self._supervision = supervision
                return
        supervision.close()

    def _end(self, attempt: Attempt, state: Ended, error: str) -> None:
        self._drop(attempt)
        now_ms = self._clock.now_ms()
        self._finish(attempt, result_of(attempt, self._executor, state, finished_ms=now_ms, error=error))

    def _drop(self, attempt: Attempt) -> str | None:
        """Free what it held here; return why it was cancelled, if it was."""
        with self._lock:
            self._sent.pop(attempt.order.key.name, None)
            if attempt in self._lanes:
                heapq.heappush(self._free_lanes, self._lanes.pop(attempt))
            return self._cancelled.pop(attempt, None)
