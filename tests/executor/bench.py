"""An executor with real processes, and an orchestrator small enough to be read in one look."""

from __future__ import annotations

import hashlib
import itertools
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Condition
from typing import Any

import psutil

from chronoshard.clock import SystemClock
from chronoshard.domain.identity import AttemptKey
from chronoshard.domain.job import HttpCall
from chronoshard.errors import Unavailable
from chronoshard.executor import Executor, Rhythm
from chronoshard.link import Address, Beat, BeatAnswer, ReserveRequest, Result, StartAnswer, StartOrder

WAIT_S = 30.0  # for what always comes; only a failing test waits so long
QUICK = Rhythm(interval_s=0.5, resend_s=0.2, self_kill_s=8.0)
JOB = "0123456789abcdef0123456789abcdef"
NOMINAL_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z
HERE = Address("o1", "local://o1")

# Sleeps of a length that only this test process uses, so that they are found wherever they ran to.
NAP = [f"sleep {os.getpid()}0{number}" for number in range(5)]
# Two ways to leave one's parent: a session of one's own, and a clean environment on top of it.
RUN_AWAY = f"""
setsid sh -c '{NAP[0]} & {NAP[1]}' &
(setsid env -i /bin/sh -c '{NAP[2]} & exec {NAP[3]}' &)
"""

_numbers = itertools.count(1)


class MemoryBlobs:
    """Blobs that can be away."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.away = False

    def put(self, key: str, data: bytes) -> None:
        self._must_be_here()
        self.kept[key] = data

    def put_file(self, key: str, path: Path) -> None:
        self._must_be_here()
        self.kept[key] = path.read_bytes()

    def get(self, key: str) -> bytes | None:
        self._must_be_here()
        return self.kept.get(key)

    def read(self, key: str, offset: int, limit: int) -> bytes | None:
        self._must_be_here()
        data = self.kept.get(key)
        return None if data is None else data[offset : offset + limit]

    def size(self, key: str) -> int | None:
        data = self.kept.get(key)
        return None if data is None else len(data)

    def delete(self, key: str) -> None:
        self.kept.pop(key, None)

    def _must_be_here(self) -> None:
        if self.away:
            raise Unavailable("the blob store is away")


def uploaded(blobs: MemoryBlobs, runtime: str, source: bytes) -> str:
    """Keep a task's code and return its id."""
    blob = runtime.encode() + b"\n" + source
    name = hashlib.sha256(blob).hexdigest()
    blobs.kept[f"tasks/{name}"] = blob
    return f"sha256:{name}"


class Orchestrator:
    """Counts beats and accepts results, unless it is told not to."""

    def __init__(self) -> None:
        self.changed = Condition()
        self.beats: list[Beat] = []
        self.got: dict[AttemptKey, Result] = {}
        self.received: list[Result] = []
        self.counts = True
        self.accepts = True
        self.away = False
        self.condemned: set[str] = set()
        self.kills: list[AttemptKey] = []
        self.drains = False

    def beat(self, beat: Beat) -> BeatAnswer:
        with self.changed:
            if self.away:
                raise Unavailable("this orchestrator is away")
            self.beats.append(beat)
            self.changed.notify_all()
            condemned = beat.incarnation in self.condemned
            return BeatAnswer(self.counts and not condemned, condemned, list(self.kills), [HERE], self.drains)

    def results(self, executor: str, batch: Sequence[Result]) -> list[bool]:
        with self.changed:
            if self.away:
                raise Unavailable("this orchestrator is away")
            self.received += batch
            if self.accepts:
                self.got.update((result.key, result) for result in batch)
            self.changed.notify_all()
            return [self.accepts] * len(batch)

    def wait(self, condition: Callable[[], Any]) -> None:
        with self.changed:
            assert self.changed.wait_for(condition, WAIT_S), "what was waited for did not happen"


class Bench:
    """One executor and what it needs; `new` starts another one on the same directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.blobs = MemoryBlobs()
        self.orchestrator = Orchestrator()
        self.options: dict[str, Any] = {"rhythm": QUICK, "slots": 100}
        self.executor = self.new()
        self.running = False

    def new(self) -> Executor:
        return Executor(
            "e1",
            self.directory,
            self.blobs,
            SystemClock(),
            address="local://e1",
            orchestrators=[HERE],
            connect=lambda _: self.orchestrator,
            **self.options,
        )

    def start(self, **options: Any) -> Bench:
        if options:
            self.options |= options
            self.options["rhythm"] = Rhythm(*self.options["rhythm"])
            self.executor = self.new()
        self.executor.start()
        self.running = True
        if self.orchestrator.counts and not self.orchestrator.away:
            self.wait_until_counted()
        return self

    def stop(self) -> None:
        """Stop the executor, if it runs."""
        if self.running:
            self.running = False
            self.executor.stop()

    def restart(self, **options: Any) -> Bench:
        """Begin the next life, in an executor of its own."""
        self.stop()
        self.executor = self.new()
        self.orchestrator.beats.clear()
        return self.start(**options)

    def wait_until_counted(self) -> None:
        """Wait until a beat of the present incarnation has counted."""
        until(lambda: self.executor.link.ping().free > 0)

    @property
    def incarnation(self) -> str:
        return self.executor.link.ping().incarnation

    def task(self, runtime: str, source: str | bytes) -> str:
        """Upload a task and return its id."""
        return uploaded(self.blobs, runtime, source.encode() if isinstance(source, str) else source)

    def order(self, runtime: str, source: str | bytes = "", **changes: Any) -> StartOrder:
        """Return an order for a new attempt of this code."""
        return StartOrder(
            **{
                "key": AttemptKey(NOMINAL_MS, JOB, NOMINAL_MS, next(_numbers), 0),
                "token": "token",
                "incarnation": self.incarnation,
                "owner": "anna",
                "runtime": runtime,
                "timeout_ms": 60_000,
                "task_id": self.task(runtime, source) if source else "",
                **changes,
            }
        )

    def reserve(self, slots: int = 1) -> str:
        grant = self.executor.link.reserve(ReserveRequest("o1", self.incarnation, slots))
        assert grant.slots == slots
        return grant.reservation

    def send(self, *orders: StartOrder) -> list[StartAnswer]:
        return self.executor.link.start(self.reserve(len(orders)), orders)

    def begin(self, runtime: str, source: str | bytes = "", **changes: Any) -> StartOrder:
        """Start one attempt."""
        order = self.order(runtime, source, **changes)
        assert [StartAnswer(accepted=True)] == self.send(order)
        return order

    def result(self, order: StartOrder) -> Result:
        """Wait for the result of an attempt."""
        self.orchestrator.wait(lambda: order.key in self.orchestrator.got)
        return self.orchestrator.got[order.key]

    def run(self, runtime: str, source: str | bytes = "", **changes: Any) -> Result:
        return self.result(self.begin(runtime, source, **changes))

    def call(self, url: str, **call: Any) -> Result:
        return self.run("http", http=HttpCall(url, **call))

    def printed(self, result: Result, stream: str = "stdout") -> bytes:
        """Return what an ended attempt printed, from the blob store."""
        key = result.key
        return self.blobs.kept.get(f"output/{key.job_id}/{key.run.id}/{key.attempt}/{stream}", b"")

    def prints(self, order: StartOrder, text: bytes) -> None:
        """Wait until a running attempt has printed `text`."""
        until(
            lambda: (
                (tail := self.executor.link.tail(order.key, "stdout", 0, 65_536)) is not None and text in tail.data
            )
        )


def until(condition: Callable[[], Any]) -> None:
    """Wait for what happens outside this process and cannot be signalled."""
    give_up_s = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < give_up_s, "what was waited for did not happen"


def sleepers() -> list[str]:
    """Return the commands of NAP that live."""
    living = (" ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"]))
    return [command for command in living if command in NAP]
