"""What orchestrators and executors say to each other.

An orchestrator reserves slots, starts, fences and kills; an executor beats and reports results. Served in
process or over HTTP with the same shapes. Every order names the incarnation it is meant for, so that nothing
reaches a later life of the same executor. All times are UTC epoch milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from chronoshard.domain.attempt import Output
from chronoshard.domain.identity import AttemptKey
from chronoshard.domain.job import HttpCall

RESERVATION_S = 5.0  # how long a grant is kept; renewed while a claim is pending
DEFAULT_OUTPUT_LIMIT = 10 * 1024 * 1024

Fence = Literal["running", "finished", "refused"]
Stream = Literal["stdout", "stderr"]
Ended = Literal["SUCCEEDED", "FAILED", "TIMED_OUT", "CANCELLED", "LOST"]


class StartOrder(msgspec.Struct, frozen=True, omit_defaults=True):
    """One attempt to run. `token` is the claim's; `params` is a JSON object as text."""

    key: AttemptKey
    token: str
    incarnation: str
    owner: str
    runtime: str
    timeout_ms: int
    task_id: str = ""
    http: HttpCall | None = None
    params: bytes = b"{}"
    memory_mb: int = 512
    network: bool = True
    output_limit: int = DEFAULT_OUTPUT_LIMIT


class ReserveRequest(msgspec.Struct, frozen=True):
    orchestrator: str
    incarnation: str
    slots: int


class Grant(msgspec.Struct, frozen=True):
    """`slots` may be fewer than asked for, also none."""

    reservation: str
    slots: int
    incarnation: str


class StartAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    accepted: bool
    reason: str = ""


class Tail(msgspec.Struct, frozen=True):
    data: bytes
    next_offset: int
    done: bool


class Pong(msgspec.Struct, frozen=True):
    executor: str
    incarnation: str
    free: int
    draining: bool


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """How an attempt ended. LOST is the executor's own failure to run it, never the task's."""

    key: AttemptKey
    token: str
    executor: str
    incarnation: str
    state: Ended
    started_ms: int
    finished_ms: int
    exit_code: int | None = None
    error: str | None = None
    output: Output | None = None


class Address(msgspec.Struct, frozen=True):
    """Where a part is reached: `local://NAME` inside one process, otherwise `http://HOST:PORT`."""

    name: str
    url: str


class Beat(msgspec.Struct, frozen=True):
    """An executor's sign of life. `sequence` grows within an incarnation.

    `leftovers_done` says that nothing of earlier incarnations lives any more and that their results were
    sent: what they still hold without a result is lost.
    """

    executor: str
    incarnation: str
    sequence: int
    address: str
    slots: int
    free: int
    load: float
    runtimes: list[str]
    labels: dict[str, str]
    tier: int
    sandbox: str
    attempts: list[AttemptKey]
    leftovers_done: bool
    draining: bool = False


class BeatAnswer(msgspec.Struct, frozen=True):
    """A beat that did not count is sent again, to another orchestrator."""

    counted: bool
    condemned: bool = False
    kills: list[AttemptKey] = []
    orchestrators: list[Address] = []
    drain: bool = False


class ExecutorLink(Protocol):
    """Served by an executor. Raises LinkRefused when it certainly did nothing, LinkTimeout when it may have."""

    def reserve(self, request: ReserveRequest) -> Grant:
        """Hold up to `slots` for RESERVATION_S. A refusal costs nothing and is no attempt."""

    def renew(self, reservation: str) -> bool:
        """Hold it for another RESERVATION_S; False when it has run out."""

    def release(self, reservation: str) -> None:
        """Give back what was not started."""

    def start(self, reservation: str, orders: Sequence[StartOrder]) -> list[StartAnswer]:
        """Start each, or refuse it. The same order again gets the same answer; it never runs twice."""

    def fence(self, incarnation: str, keys: Sequence[AttemptKey]) -> list[Fence]:
        """Say what became of each; one that is not here is refused for ever from now on."""

    def kill(self, incarnation: str, keys: Sequence[AttemptKey], reason: str) -> None:
        """End each as CANCELLED, its whole process tree. Unknown ones are ignored."""

    def tail(self, key: AttemptKey, stream: Stream, offset: int, limit: int) -> Tail | None:
        """Read output of an attempt that is here; None when it is not."""

    def ping(self) -> Pong: ...


class OrchestratorLink(Protocol):
    """Served by an orchestrator. Raises LinkRefused, LinkTimeout or Unavailable: nothing was accepted."""

    def beat(self, beat: Beat) -> BeatAnswer:
        """Record the beat; see BeatAnswer."""

    def results(self, executor: str, batch: Sequence[Result]) -> list[bool]:
        """Say for each whether the executor may forget it: it is final now, or it is refused as late."""
