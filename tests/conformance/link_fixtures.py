"""Both forms of the link in turn: the object itself, and the same object behind HTTP.

`SmallExecutor` and `SmallOrchestrator` implement the Protocols with as little as their contracts need, remember
what reached them, and raise what a test asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from chronoshard.domain.identity import AttemptKey
from chronoshard.link import (
    Address,
    Beat,
    BeatAnswer,
    ExecutorLink,
    Fence,
    Grant,
    OrchestratorLink,
    Pong,
    ReserveRequest,
    Result,
    StartAnswer,
    StartOrder,
    Stream,
    Tail,
)
from chronoshard.link_http import (
    HttpExecutorLink,
    HttpOrchestratorLink,
    Server,
    serve_executor,
    serve_orchestrator,
)

TOKEN = "a token of the link"
LIFE = "0001"


class SmallExecutor:
    """Has `slots`; runs nothing, but keeps the books of an executor that does."""

    def __init__(self, slots: int = 4) -> None:
        self.free = slots
        self.reserved: dict[str, int] = {}
        self.orders: list[StartOrder] = []
        self.killed: list[tuple[AttemptKey, str]] = []
        self.output: dict[tuple[AttemptKey, str], bytes] = {}
        self.asked = 0
        self.error: Exception | None = None
        self._refused: set[AttemptKey] = set()

    def reserve(self, request: ReserveRequest) -> Grant:
        self._ask()
        slots = min(self.free, request.slots) if request.incarnation == LIFE else 0
        reservation = f"{request.orchestrator}-{len(self.reserved)}"
        self.reserved[reservation] = slots
        self.free -= slots
        return Grant(reservation, slots, LIFE)

    def renew(self, reservation: str) -> bool:
        self._ask()
        return reservation in self.reserved

    def release(self, reservation: str) -> None:
        self._ask()
        self.free += self.reserved.pop(reservation, 0)

    def start(self, reservation: str, orders: Sequence[StartOrder]) -> list[StartAnswer]:
        self._ask()
        return [self._start(order) for order in orders]

    def fence(self, incarnation: str, keys: Sequence[AttemptKey]) -> list[Fence]:
        self._ask()
        running = {order.key for order in self.orders}
        self._refused.update(key for key in keys if key not in running)
        return ["running" if key in running else "refused" for key in keys]

    def kill(self, incarnation: str, keys: Sequence[AttemptKey], reason: str) -> None:
        self._ask()
        self.killed += [(key, reason) for key in keys]

    def tail(self, key: AttemptKey, stream: Stream, offset: int, limit: int) -> Tail | None:
        self._ask()
        output = self.output.get((key, stream))
        if output is None:
            return None
        data = output[offset : offset + limit]
        return Tail(data, offset + len(data), done=offset + len(data) >= len(output))

    def ping(self) -> Pong:
        self._ask()
        return Pong("e1", LIFE, self.free, draining=False)

    def _start(self, order: StartOrder) -> StartAnswer:
        if order.incarnation != LIFE or order.key in self._refused:
            return StartAnswer(accepted=False, reason="refused for ever")
        if order.key not in {known.key for known in self.orders}:
            self.orders.append(order)
        return StartAnswer(accepted=True)

    def _ask(self) -> None:
        self.asked += 1
        if self.error is not None:
            raise self.error


class SmallOrchestrator:
    """Counts every beat, kills what it is told to, accepts the results of attempt 0."""

    def __init__(self) -> None:
        self.beats: list[Beat] = []
        self.accepted: list[Result] = []
        self.kills: list[AttemptKey] = []
        self.asked = 0
        self.error: Exception | None = None

    def beat(self, beat: Beat) -> BeatAnswer:
        self._ask()
        self.beats.append(beat)
        condemned = beat.incarnation != LIFE
        return BeatAnswer(not condemned, condemned, self.kills, [Address("o1", "http://o1:1")], beat.draining)

    def results(self, executor: str, batch: Sequence[Result]) -> list[bool]:
        self._ask()
        self.accepted += [result for result in batch if result.executor == executor]
        return [result.key.attempt == 0 for result in batch]

    def _ask(self) -> None:
        self.asked += 1
        if self.error is not None:
            raise self.error


class Executors(NamedTuple):
    """`link` is what an orchestrator has in hand, `there` what it reaches."""

    link: ExecutorLink
    there: SmallExecutor


class Orchestrators(NamedTuple):
    """`link` is what an executor has in hand, `there` what it reaches."""

    link: OrchestratorLink
    there: SmallOrchestrator


class Door:
    """One server for all tests, since starting one takes longer than most of them; `app` is the test's own."""

    def __init__(self) -> None:
        self.server = Server(self)
        self.app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self.app is not None, "nobody listens to the server's own start"
        await self.app(scope, receive, send)


@pytest.fixture(scope="session")
def door() -> Iterator[Door]:
    door = Door()
    door.server.start()
    yield door
    door.server.stop()


@pytest.fixture(params=["direct", "http"])
def executor_link(request: pytest.FixtureRequest, door: Door) -> Iterator[Executors]:
    there = SmallExecutor()
    if request.param == "direct":
        yield Executors(there, there)
        return
    door.app = serve_executor(there, TOKEN)
    link = HttpExecutorLink(door.server.url, TOKEN)
    yield Executors(link, there)
    link.close()


@pytest.fixture(params=["direct", "http"])
def orchestrator_link(request: pytest.FixtureRequest, door: Door) -> Iterator[Orchestrators]:
    there = SmallOrchestrator()
    if request.param == "direct":
        yield Orchestrators(there, there)
        return
    door.app = serve_orchestrator(there, TOKEN)
    link = HttpOrchestratorLink(door.server.url, TOKEN)
    yield Orchestrators(link, there)
    link.close()
