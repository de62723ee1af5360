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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import structlog

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
        self._local: dict[str, Any] = {}
        self._connected: dict[str, ExecutorLink] = {}
        self._secret = _secret(data / "secret")
        retention = self.settings.timetable_days * DAY_MINUTES
        self.store = SqliteStore.open(
            data / "chronoshard.db",
            shards=self.settings.shards,
            clock=self.clock,
            timetable_days=self.settings.timetable_days,
            history_days=self.settings.history_days,
        )
        self.blobs = ObstoreBlobs.local(data / "blobs")
        self.broker = LocalBroker(self.clock, slices=self.settings.slices)
        self.coordination = LocalCoordination(data / "coordination.json", self.clock)
        self.dedupe = LocalDedupe(self.clock)
        self.planner = Planner(self.store, self.dedupe, self.clock, shards=self.settings.shards)
        self.following = Following(self.store, self.planner)
        self.master = Master(
            "m1",
            self.store,
            self.coordination,
            self.clock,
            shards=self.settings.shards,
            slices=self.settings.slices,
            retention_minutes=retention,
        )
        self.shard_worker = ShardWorker(
            "w1",
            self.store,
            self.broker,
            self.coordination,
            self.dedupe,
            self.planner,
            self.following,
            self.clock,
        )
        self.orchestrator = Orchestrator(
            "o1",
            LOCAL + "o1",
            self.store,
            self.broker,
            self.coordination,
            self.following,
            self.clock,
            self.executor_link,
            shards=self.settings.shards,
            limits=Limits(self.settings.output_limit, self.settings.memory_mb),
        )
        self._local[LOCAL + "o1"] = self.orchestrator
        self.health_checker = HealthChecker(
            "h1",
            self.store,
            self.broker,
            self.coordination,
            self.planner,
            self.following,
            self.clock,
            shards=self.settings.shards,
            slices=self.settings.slices,
            retention_minutes=retention,
        )
        self.executors = [self._executor(f"e{n + 1}") for n in range(self.settings.executors)]
        self.token = _first_token(self.store, data / TOKEN_FILE, self.clock)
        context = Context(
            store=self.store,
            blobs=self.blobs,
            broker=self.broker,
            coordination=self.coordination,
            planner=self.planner,
            following=self.following,
            clock=self.clock,
            settings=self.settings,
            executor_link=self.executor_link,
        )
        self._server = Server(create_app(context), host=host, port=port)
        self._link_server = Server(serve_orchestrator(self.orchestrator, self._secret), host="127.0.0.1", port=0)

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
        for part in (self.shard_worker, *self.executors, self.orchestrator, self.health_checker, self.master):
            part.stop()
        self._link_server.stop()
        self.store.close()

    def executor_link(self, address: str) -> ExecutorLink:
        """Return the way to an executor, in this process or another."""
        if address in self._local:
            return self._local[address]  # type: ignore[no-any-return]
        if address not in self._connected:
            self._connected[address] = HttpExecutorLink(address, self._secret)
        return self._connected[address]

    def _executor(self, name: str) -> Executor:
        executor = Executor(
            name,
            self.data / "executors" / name,
            self.blobs,
            self.clock,
            address=LOCAL + name,
            orchestrators=[Address("o1", LOCAL + "o1")],
            connect=lambda address: self._local[address.url],
            slots=self.settings.executor_slots,
            pids=self.settings.pids,
        )
        self._local[LOCAL + name] = executor
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

        self._late = LateLink()
        self._server = Server(serve_executor(self._late, secret), host="127.0.0.1", port=0)
        self._server.start()
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
