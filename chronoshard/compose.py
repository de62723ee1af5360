"""Joins parts and adapters: the one place that sees both.

`Embedded` is the whole system in one process: all six parts as threads over SQLite and structures in the process,
through the same ports that a cluster uses. `ExecutorProcess` is one more executor for it, in a process of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import threading
from dataclasses import dataclass
from pathlib import Path

import structlog
from starlette.types import ASGIApp, Receive, Scope, Send

from chronoshard import logs
from chronoshard.adapters.blobs import ObstoreBlobs
from chronoshard.adapters.local_broker import LocalBroker
from chronoshard.adapters.local_coordination import LocalCoordination
from chronoshard.adapters.local_dedupe import LocalDedupe
from chronoshard.adapters.sqlite import SqliteStore
from chronoshard.api.app import create_app
from chronoshard.api.context import Context
from chronoshard.client import discovery
from chronoshard.clock import Clock, SystemClock
from chronoshard.domain.access import Role
from chronoshard.errors import InvalidInput
from chronoshard.executor import Executor
from chronoshard.failpoints import arm_from
from chronoshard.following import Following
from chronoshard.health_checker import HealthChecker
from chronoshard.link import Address, ExecutorLink, OrchestratorLink
from chronoshard.link_http import (
    HttpExecutorLink,
    HttpOrchestratorLink,
    Server,
    serve_executor,
    serve_orchestrator,
)
from chronoshard.master import Master
from chronoshard.orchestrator import Orchestrator
from chronoshard.orchestrator.orders import Limits
from chronoshard.planning import Planner
from chronoshard.settings import Settings
from chronoshard.shard_worker import ShardWorker
from chronoshard.tokens import new_token

log = structlog.get_logger(__name__)

DAY_MINUTES = 1_440
LINK_FILE = "link.json"  # where an executor of its own process finds the orchestrator, mode 0600
TOKEN_FILE = "token"
LOCAL = "local://"


@dataclass(frozen=True)
class Adapters:
    """What stands behind the ports of an embedded server, and the two things built on them alone."""

    store: SqliteStore
    blobs: ObstoreBlobs
    broker: LocalBroker
    coordination: LocalCoordination
    dedupe: LocalDedupe
    planner: Planner
    following: Following

    @classmethod
    def open(cls, data: Path, settings: Settings, clock: Clock) -> Adapters:
        """Open or make everything in a data directory. Raises Unavailable, Conflict (somebody has it open)."""
        store = SqliteStore.open(
            data / "chronoshard.db",
            shards=settings.shards,
            clock=clock,
            timetable_days=settings.timetable_days,
            history_days=settings.history_days,
        )
        dedupe = LocalDedupe(clock)
        planner = Planner(store, dedupe, clock, shards=settings.shards)
        return cls(
            store,
            ObstoreBlobs.local(data / "blobs"),
            LocalBroker(slices=settings.slices),
            LocalCoordination(data / "coordination.json", clock),
            dedupe,
            planner,
            Following(store, planner),
        )


class Embedded:
    """Everything in this process, on one data directory."""

    def __init__(
        self,
        data: Path,
        settings: Settings | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        clock: Clock | None = None,
    ) -> None:
        self.data = data
        self.settings = settings or Settings()
        self.clock = clock or SystemClock()
        data.mkdir(parents=True, exist_ok=True)
        self._secret = _secret(data / "secret")
        self._local: dict[str, ExecutorLink] = {}
        self._connected: dict[str, ExecutorLink] = {}
        self.adapters = Adapters.open(data, self.settings, self.clock)
        self.master = self._master()
        self.shard_worker = self._shard_worker()
        self.orchestrator = self._orchestrator()
        self.health_checker = self._health_checker()
        self.executors = [self._executor(f"e{number + 1}") for number in range(self.settings.executors)]
        self.token = _first_token(self.adapters.store, data / TOKEN_FILE, self.clock)
        self._server = Server(create_app(self._context()), host=host, port=port)
        self._link_server = Server(serve_orchestrator(self.orchestrator, self._secret))

    @property
    def url(self) -> str:
        return self._server.url

    def start(self) -> None:
        self._server.start()
        self._link_server.start()
        _write_private(self.data / LINK_FILE, json.dumps({"url": self._link_server.url, "secret": self._secret}))
        for part in (self.master, self.orchestrator, self.shard_worker, self.health_checker):
            part.start()
        for executor in self.executors:
            executor.start()
        discovery.publish(self.data, self.url, self.data / TOKEN_FILE)

    def stop(self) -> None:
        """End in the order in which work flows, so that nothing new comes to those who are ending."""
        discovery.withdraw()
        self._server.stop()
        self.shard_worker.stop()
        for executor in self.executors:
            executor.stop()
        for part in (self.orchestrator, self.health_checker, self.master):
            part.stop()
        self._link_server.stop()
        self.adapters.store.close()

    def executor_link(self, address: str) -> ExecutorLink:
        """Return the way to an executor, in this process or another."""
        if address in self._local:
            return self._local[address]
        if address not in self._connected:
            self._connected[address] = HttpExecutorLink(address, self._secret)
        return self._connected[address]

    def _master(self) -> Master:
        return Master(
            "m1",
            self.adapters.store,
            self.adapters.coordination,
            self.clock,
            shards=self.settings.shards,
            slices=self.settings.slices,
            retention_minutes=self.settings.timetable_days * DAY_MINUTES,
        )

    def _shard_worker(self) -> ShardWorker:
        at = self.adapters
        return ShardWorker(
            "w1", at.store, at.broker, at.coordination, at.dedupe, at.planner, at.following, self.clock
        )

    def _orchestrator(self) -> Orchestrator:
        at = self.adapters
        return Orchestrator(
            "o1",
            LOCAL + "o1",
            at.store,
            at.broker,
            at.coordination,
            at.following,
            self.clock,
            self.executor_link,
            shards=self.settings.shards,
            limits=Limits(self.settings.output_limit, self.settings.memory_mb),
        )

    def _health_checker(self) -> HealthChecker:
        at = self.adapters
        return HealthChecker(
            "h1",
            at.store,
            at.broker,
            at.coordination,
            at.planner,
            at.following,
            self.clock,
            shards=self.settings.shards,
            slices=self.settings.slices,
            retention_minutes=self.settings.timetable_days * DAY_MINUTES,
        )

    def _context(self) -> Context:
        at = self.adapters
        return Context(
            store=at.store,
            blobs=at.blobs,
            broker=at.broker,
            coordination=at.coordination,
            planner=at.planner,
            following=at.following,
            clock=self.clock,
            settings=self.settings,
            executor_links=self.executor_link,
        )

    def _executor(self, name: str) -> Executor:
        executor = Executor(
            name,
            self.data / "executors" / name,
            self.adapters.blobs,
            self.clock,
            address=LOCAL + name,
            orchestrators=[Address("o1", LOCAL + "o1")],
            connect=lambda address: self.orchestrator,
            slots=self.settings.executor_slots,
            builtin_slots=self.settings.builtin_slots,
            pids=self.settings.pids,
        )
        self._local[executor.address] = executor.link
        return executor


class ExecutorProcess:
    """One more executor for the embedded server of a data directory, in a process of its own."""

    def __init__(self, name: str, data: Path, *, slots: int) -> None:
        try:
            link = json.loads((data / LINK_FILE).read_text())
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"no server is to be found in {data}: {error}", hint="start it first: chronoshard up --data DIR"
            ) from None
        secret = link["secret"]
        links: dict[str, OrchestratorLink] = {}

        def connect(address: Address) -> OrchestratorLink:
            # Orchestrators of the embedded server call themselves local; from here they are all at one address.
            url = link["url"] if address.url.startswith(LOCAL) else address.url
            return links.setdefault(url, HttpOrchestratorLink(url, secret))

        apps: list[ASGIApp] = []

        async def late(scope: Scope, receive: Receive, send: Send) -> None:
            await apps[0](scope, receive, send)

        self._server = Server(late)
        self._server.start()  # first: the executor has to know its own address
        self.executor = Executor(
            name,
            data / "executors" / name,
            ObstoreBlobs.local(data / "blobs"),
            SystemClock(),
            address=self._server.url,
            orchestrators=[Address("o1", link["url"])],
            connect=connect,
            slots=slots,
        )
        apps.append(serve_executor(self.executor.link, secret))

    def start(self) -> None:
        self.executor.start()

    def stop(self) -> None:
        self.executor.stop()
        self._server.stop()


def up(data: Path, host: str, port: int) -> int:
    """Run the embedded server until SIGINT or SIGTERM."""
    logs.configure()
    arm_from(os.environ.get("CHRONOSHARD_FAILPOINTS", ""))
    embedded = Embedded(data, host=host, port=port)
    stopped = _stop_signal()
    embedded.start()
    print(f"chronoshard is up: {embedded.url}")
    print(f"  data   {data}")
    print(f"  token  {data / TOKEN_FILE}  (the command line finds it by itself)")
    print(f"  docs   {embedded.url}/docs")
    print("  next   chronoshard submit hello.sh --every 1m        Ctrl-C stops", flush=True)
    stopped.wait()
    embedded.stop()
    return 0


def executor(name: str, data: Path, slots: int) -> int:
    """Run one more executor for the server of a data directory until SIGINT or SIGTERM."""
    logs.configure()
    arm_from(os.environ.get("CHRONOSHARD_FAILPOINTS", ""))
    process = ExecutorProcess(name, data, slots=slots)
    stopped = _stop_signal()
    process.start()
    print(f"executor {name} is up", flush=True)
    stopped.wait()
    process.stop()
    return 0


def _stop_signal() -> threading.Event:
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    return stopped


def _secret(path: Path) -> str:
    """Return what orchestrators and executors of this directory know each other by; made once."""
    with contextlib.suppress(FileNotFoundError):
        return path.read_text()
    secret = secrets.token_urlsafe(32)
    _write_private(path, secret)
    return secret


def _first_token(store: SqliteStore, path: Path, clock: Clock) -> str:
    """Return the operator's token of this directory; made at the first start."""
    with contextlib.suppress(FileNotFoundError):
        return path.read_text()
    text, token = new_token(owner="local", role=Role.OPERATOR, now_ms=clock.now_ms())
    store.access.put_token(token)
    _write_private(path, text)
    return text


def _write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    temporary = path.with_name(path.name + ".new")
    temporary.unlink(missing_ok=True)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
