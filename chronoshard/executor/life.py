"""One incarnation of an executor: what it was asked to run, runs, and has ended.

Nothing starts here without a live reservation, a beat that still counts and an order that names this
incarnation, and no attempt starts twice (invariant 4). What ends is reported once.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Lock
from typing import NamedTuple

import structlog

from chronoshard.clock import Clock
from chronoshard.domain.identity import AttemptKey
from chronoshard.errors import ChronoshardError, LinkRefused, Unavailable
from chronoshard.executor.attempts import Attempt, Attempts
from chronoshard.executor.builtin import Builtins
from chronoshard.executor.ending import SILENT, result_of
from chronoshard.executor.launch import Launch
from chronoshard.executor.output import read_tail
from chronoshard.executor.processes import Processes
from chronoshard.executor.runtimes import BUILTIN, Runtimes
from chronoshard.executor.slots import Slots
from chronoshard.executor.spool import Spooled
from chronoshard.executor.supervisor import boottime_s
from chronoshard.executor.tasks import Tasks
from chronoshard.failpoints import failpoint
from chronoshard.link import Ended, Fence, Grant, ReserveRequest, Result, StartAnswer, StartOrder, Stream, Tail

log = structlog.get_logger(__name__)

LAUNCHERS = 4  # attempts that are prepared at the same time
FETCH_S = 20.0  # how long a blob store that is away is asked again before the attempt is given up
FETCH_PAUSE_S = 0.5
ACCEPTED = StartAnswer(accepted=True)


class Equipment(NamedTuple):
    """What every life of an executor uses."""

    executor: str
    slots: int
    builtin_slots: int
    group: str
    lives: Path
    clock: Clock
    launch: Launch
    tasks: Tasks
    runtimes: Runtimes


class Life:
    """`report` is given every end, exactly once, and returns at once."""

    def __init__(
        self, equipment: Equipment, incarnation: str, report: Callable[[Sequence[Spooled]], None]
    ) -> None:
        use = equipment
        self.incarnation = incarnation
        self.draining = False
        self._use = use
        self._report = report
        self._lock = Lock()
        self._slots = Slots(use.slots)
        self._builtin_free = use.builtin_slots
        self._attempts = Attempts()
        self._over = Event()
        self._alive_until_s = 0.0
        self._launchers = ThreadPoolExecutor(LAUNCHERS, thread_name_prefix="executor-launch")
        self._builtins = Builtins(use.executor, use.clock, self._finish, self._may_run)
        (use.lives / incarnation).mkdir(parents=True, exist_ok=True)
        self._processes = Processes(
            use.executor,
            incarnation,
            use.lives,
            use.group,
            use.slots,
            use.launch,
            use.clock,
            lambda attempt, result: self._finish([(attempt, result)]),
        )

    def reserve(self, request: ReserveRequest) -> Grant:
        """See ExecutorLink. None for another incarnation, while draining, and while no beat counts."""
        reservation, slots = uuid.uuid4().hex, 0
        with self._lock:
            if request.incarnation == self.incarnation and not self.draining and self._may_run():
                slots = self._slots.reserve(reservation, request.slots, now_s=self._use.clock.monotonic_s())
        return Grant(reservation, slots, self.incarnation)

    def renew(self, reservation: str) -> bool:
        with self._lock:
            return self._slots.renew(reservation, now_s=self._use.clock.monotonic_s())

    def release(self, reservation: str) -> None:
        with self._lock:
            self._slots.release(reservation)

    def start(self, reservation: str, orders: Sequence[StartOrder]) -> list[StartAnswer]:
        """Start each or refuse it. Raises LinkRefused for orders to another incarnation.

        What an earlier life did with such an order is not known here, so it is no answer to the order itself.
        """
        for order in orders:
            self._must_be_ours(order.incarnation)
        instant: list[Spooled] = []
        rest: list[Attempt] = []
        now_s, now_ms = self._use.clock.monotonic_s(), self._use.clock.now_ms()
        with self._lock:
            may_run = self._may_run()
            answers = [
                self._start(reservation, order, instant, rest, may_run=may_run, now_s=now_s, now_ms=now_ms)
                for order in orders
            ]
        if instant:
            self._report(instant)
        for attempt in rest:
            self._run(attempt)
        failpoint("executor.started")
        return answers

    def fence(self, incarnation: str, keys: Sequence[AttemptKey]) -> list[Fence]:
        """Raises LinkRefused for another incarnation: its next life tells of its end in its first beat."""
        self._must_be_ours(incarnation)
        with self._lock:
            return self._attempts.fence(keys)

    def kill(self, incarnation: str, keys: Sequence[AttemptKey], reason: str) -> None:
        if incarnation != self.incarnation:
            return
        with self._lock:
            attempts = [attempt for key in keys if (attempt := self._attempts.running(key))]
        for attempt in attempts:
            if attempt.order.runtime == BUILTIN:
                self._end(attempt, "CANCELLED", reason)
            else:
                self._processes.kill(attempt, reason)

    def tail(self, key: AttemptKey, stream: Stream, offset: int, limit: int) -> Tail | None:
        with self._lock:
            attempt = self._attempts.get(key)
            done = attempt is not None and attempt.ended
        if attempt is None:
            return None
        if attempt.directory is None:
            return Tail(b"", offset, done)
        if done and not attempt.directory.is_dir():
            return None  # accepted: the blob store has it
        return read_tail(attempt.directory, stream, offset=offset, limit=limit, done=done)

    def free(self) -> int:
        """Return how many slots would be granted now."""
        with self._lock:
            if self.draining or not self._may_run():
                return 0
            return self._slots.free(self._use.clock.monotonic_s())

    def running(self) -> list[AttemptKey]:
        with self._lock:
            return self._attempts.unfinished()

    @property
    def limits(self) -> str:
        return self._processes.limits

    def keep_alive(self, until_s: float) -> None:
        """Let what runs live until this boot time: a beat that was sent a while before it has counted."""
        with self._lock:
            self._alive_until_s = max(self._alive_until_s, until_s)
        self._processes.keep_alive(until_s)

    def check(self) -> None:
        """End the builtins of an executor that has been silent too long, and a supervisor that is stuck."""
        with self._lock:
            running = [] if self._may_run() else self._attempts.all_running()
        for attempt in running:
            if attempt.order.runtime == BUILTIN:
                self._end(attempt, "LOST", SILENT)
        self._processes.check()

    def accepted(self, results: Sequence[Result]) -> None:
        """These need not be remembered for ever."""
        with self._lock:
            self._attempts.accepted(r.key for r in results if r.incarnation == self.incarnation)

    def end(self, reason: str) -> None:
        """Kill everything, return when nothing lives, and report what ran as LOST."""
        self._over.set()
        self._processes.end()
        self._builtins.stop()
        self._launchers.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            left = self._attempts.all_running()
        for attempt in left:
            self._end(attempt, "LOST", reason)

    def _may_run(self) -> bool:
        return not self._over.is_set() and boottime_s() < self._alive_until_s

    def _must_be_ours(self, incarnation: str) -> None:
        if incarnation != self.incarnation:
            raise LinkRefused(f"this executor is incarnation {self.incarnation} now", code="link.incarnation")

    def _start(
        self,
        reservation: str,
        order: StartOrder,
        instant: list[Spooled],
        rest: list[Attempt],
        *,
        may_run: bool,
        now_s: float,
        now_ms: int,
    ) -> StartAnswer:
        refusal = self._attempts.refusal(order)
        if refusal is None:
            refusal = self._unfit(order) if may_run else "no beat of this executor counts now"
            if not refusal and not self._slots.take(reservation, now_s=now_s):
                refusal = "no live reservation"
            if not refusal:
                self._take(Attempt(order, now_ms), instant, rest)
        return StartAnswer(accepted=False, reason=refusal) if refusal else ACCEPTED

    def _take(self, attempt: Attempt, instant: list[Spooled], rest: list[Attempt]) -> None:
        """Account for an attempt that is going to run; one that takes no time has ended with it."""
        order = attempt.order
        if order.runtime == BUILTIN:
            self._slots.give_back()  # it needs no process
            if self._builtins.is_instant(order.task_id):
                self._attempts.add_ended(attempt)
                instant.append(Spooled(self._builtins.result(attempt)))
                return
            self._builtin_free -= 1
        self._attempts.add(attempt)
        rest.append(attempt)

    def _unfit(self, order: StartOrder) -> str:
        """Return why this executor cannot run it, empty when it can."""
        if order.runtime == BUILTIN:
            return "" if self._builtin_free > 0 else "too many builtin tasks at once"
        try:
            self._use.runtimes.get(order.runtime)
        except ChronoshardError as error:
            return f"{error.code}: {error.detail}"
        return ""

    def _run(self, attempt: Attempt) -> None:
        if attempt.order.runtime == BUILTIN and self._builtins.knows(attempt.order.task_id):
            self._builtins.run(attempt)
        else:
            self._launchers.submit(self._launch, attempt)

    def _launch(self, attempt: Attempt) -> None:
        """Fetch what one attempt needs and run it; on a thread of the pool."""
        try:
            self._persist(attempt)
        except Unavailable as error:
            self._give_up(attempt, "LOST", f"its code could not be fetched: {error.detail}")
        except ChronoshardError as error:
            self._give_up(attempt, "FAILED", f"{error.code}: {error.detail}")
        except Exception as error:
            log.exception("executor.launch_failed", attempt=attempt.order.key.name)
            self._give_up(attempt, "LOST", f"the executor could not start it: {error}")

    def _give_up(self, attempt: Attempt, state: Ended, error: str) -> None:
        """End one that could not be launched; a kill order that came in between has its way."""
        cancelled = self._processes.give_up(attempt)
        if cancelled is not None:
            self._end(attempt, "CANCELLED", cancelled)
        else:
            self._end(attempt, state, error)

    def _persist(self, attempt: Attempt) -> None:
        """Launch, trying again for a while when the blob store is away."""
        order = attempt.order
        give_up_s = self._use.clock.monotonic_s() + FETCH_S
        while not attempt.ended:
            try:
                if order.runtime != BUILTIN:
                    return self._processes.run(attempt)
                self._builtins.learn(order.task_id, self._use.tasks.source(order.task_id, runtime=BUILTIN))
                return self._builtins.run(attempt)
            except Unavailable:
                if self._use.clock.monotonic_s() > give_up_s or self._over.wait(FETCH_PAUSE_S):
                    raise
        return None

    def _end(self, attempt: Attempt, state: Ended, error: str) -> None:
        """End one that has no process (any more)."""
        now_ms = self._use.clock.now_ms()
        self._finish([(attempt, result_of(attempt, self._use.executor, state, finished_ms=now_ms, error=error))])

    def _finish(self, ends: Sequence[tuple[Attempt, Result]]) -> None:
        """Take them off what runs, free what they held, report; what had ended before is left alone."""
        spooled = []
        with self._lock:
            for attempt, result in ends:
                if not self._attempts.end(attempt):
                    continue
                if attempt.order.runtime == BUILTIN:
                    self._builtin_free += 1
                else:
                    self._slots.give_back()
                output = str(attempt.directory.relative_to(self._use.lives)) if attempt.directory else ""
                spooled.append(Spooled(result, output))
        if spooled:
            self._report(spooled)
