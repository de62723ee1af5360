"""Brings results to an orchestrator: on disk first, their output stored, then sent until they are accepted.

Nothing is reported before its output is in the blob store, and nothing is forgotten before it is accepted. At
rest a result leaves at once; while one send is under way the next batch gathers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Condition, Event, Thread
from typing import NamedTuple

import structlog

from chronoshard.clock import Clock
from chronoshard.errors import ChronoshardError
from chronoshard.executor.orchestrators import Orchestrators
from chronoshard.executor.output import remove_output, store_output
from chronoshard.executor.spool import Batch, Spool, Spooled
from chronoshard.failpoints import failpoint
from chronoshard.link import Result
from chronoshard.ports.blobs import Blobs

log = structlog.get_logger(__name__)

SEND_AT_ONCE = 500  # results in one request
STORERS = 4  # outputs stored at the same time
FIRST_PAUSE_S = 0.1
MAX_PAUSE_S = 3.0


class _Waiting(NamedTuple):
    batch: Batch
    item: Spooled


class Reporter:
    """`accepted` is told which results need not be remembered any more. `lives` is where outputs lie."""

    def __init__(
        self,
        executor: str,
        directory: Path,
        lives: Path,
        blobs: Blobs,
        orchestrators: Orchestrators,
        clock: Clock,
        accepted: Callable[[Sequence[Result]], None],
    ) -> None:
        self._executor = executor
        self._spool = Spool(directory)
        self._lives = lives
        self._blobs = blobs
        self._orchestrators = orchestrators
        self._clock = clock
        self._accepted = accepted
        self._changed = Condition()
        self._fresh: list[Spooled] = []
        self._ready: list[_Waiting] = []
        self._open: dict[str, int] = {}  # results not yet accepted, by incarnation
        self._retry_s = 0.0  # nothing is sent before, after a failure
        self._stopped = Event()
        self._storers = ThreadPoolExecutor(STORERS, thread_name_prefix="executor-output")
        self._thread = Thread(target=self._run, name="executor-reporter", daemon=True)

    def start(self) -> None:
        """Take up what earlier lives left, then go on with what comes."""
        for batch in self._spool.load():
            self._count(batch.items)
            self._forward(batch)
        self._thread.start()

    def add(self, items: Sequence[Spooled]) -> None:
        """Report these. Returns at once."""
        with self._changed:
            self._fresh += items
            self._count(items)
            self._changed.notify_all()

    def open(self, *, but: str = "") -> int:
        """Return how many results are not accepted yet, those of one incarnation left out."""
        with self._changed:
            return sum(count for incarnation, count in self._open.items() if incarnation != but)

    def wait_until_open(self, limit: int, *, timeout_s: float) -> bool:
        """Wait until at most `limit` results are not accepted; False when that takes too long."""
        with self._changed:
            return self._changed.wait_for(lambda: sum(self._open.values()) <= limit, timeout_s)

    def stop(self) -> None:
        """Stop; what is not accepted stays on disk."""
        self._stopped.set()
        with self._changed:
            self._changed.notify_all()
        self._thread.join()
        self._storers.shutdown(wait=True, cancel_futures=True)

    def _count(self, items: Sequence[Spooled]) -> None:
        for item in items:
            incarnation = item.result.incarnation
            self._open[incarnation] = self._open.get(incarnation, 0) + 1

    def _run(self) -> None:
        pause_s = FIRST_PAUSE_S
        while not (self._stopped.is_set() and not self._fresh):
            with self._changed:
                rest_s = self._retry_s - self._clock.monotonic_s()
                self._changed.wait_for(self._has_work, rest_s if rest_s > 0 else None)
                fresh, self._fresh = self._fresh, []
            if fresh:
                self._keep(fresh)
            if self._stopped.is_set() or self._clock.monotonic_s() < self._retry_s:
                continue
            if self._send():
                pause_s = FIRST_PAUSE_S
            else:
                self._retry_s = self._clock.monotonic_s() + pause_s
                pause_s = min(MAX_PAUSE_S, pause_s * 2)

    def _has_work(self) -> bool:
        may_send = self._ready and self._clock.monotonic_s() >= self._retry_s
        return bool(self._fresh or may_send or self._stopped.is_set())

    def _keep(self, fresh: list[Spooled]) -> None:
        """Make them durable. With a full disk they are still reported, only not across a crash of ours."""
        try:
            batch = self._spool.write(fresh)
            failpoint("executor.spooled")
        except Exception as error:
            log.error("executor.spool_failed", cause=repr(error))
            batch = Batch(None, fresh)
        self._forward(batch)

    def _forward(self, batch: Batch) -> None:
        """Send at once what has no output; store the output of the others first."""
        for item in batch.items:
            waiting = _Waiting(batch, item)
            if item.output:
                self._storers.submit(self._store, waiting)
                continue
            with self._changed:
                self._ready.append(waiting)

    def _store(self, waiting: _Waiting) -> None:
        pause_s = FIRST_PAUSE_S
        result = waiting.item.result
        while not self._stopped.is_set():
            try:
                store_output(self._blobs, result.key, self._lives / waiting.item.output)
                failpoint("executor.output_stored")
            except Exception as error:
                log.warning("executor.output_not_stored", attempt=result.key.name, cause=repr(error))
                self._stopped.wait(pause_s)
                pause_s = min(MAX_PAUSE_S, pause_s * 2)
                continue
            with self._changed:
                self._ready.append(waiting)
                self._changed.notify_all()
            return

    def _send(self) -> bool:
        """Send what is ready; False when it has to be tried again after a pause."""
        with self._changed:
            sent, self._ready = self._ready[:SEND_AT_ONCE], self._ready[SEND_AT_ONCE:]
        if not sent:
            return True
        done = self._ask([waiting.item.result for waiting in sent])
        self._settle([waiting for waiting, accepted in zip(sent, done, strict=True) if accepted])
        refused = [waiting for waiting, accepted in zip(sent, done, strict=True) if not accepted]
        with self._changed:
            self._ready = refused + self._ready
        return not refused

    def _ask(self, results: list[Result]) -> list[bool]:
        """Send; nothing is accepted when there is no answer."""
        nothing = [False] * len(results)
        address = None
        try:
            address, link = self._orchestrators.current()
            accepted = link.results(self._executor, results)
            failpoint("executor.results_sent")
            return [answer for answer, _ in zip(accepted, results, strict=True)]
        except ChronoshardError as error:
            log.info("executor.results_not_sent", orchestrator=address and address.name, cause=error.detail)
        except Exception:
            log.exception("executor.results_not_sent", orchestrator=address and address.name)
        if address is not None:
            self._orchestrators.failed(address)
        return nothing

    def _settle(self, accepted: list[_Waiting]) -> None:
        for waiting in accepted:
            self._spool.accepted(waiting.batch)
            if waiting.item.output:
                remove_output(self._lives / waiting.item.output)
        results = [waiting.item.result for waiting in accepted]
        with self._changed:
            for result in results:
                self._open[result.incarnation] -= 1
            self._open = {incarnation: count for incarnation, count in self._open.items() if count}
            self._changed.notify_all()
        if results:
            self._accepted(results)
