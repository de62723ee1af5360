"""Turns an order into what the supervisor starts: code, walls, environment, limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from chronoshard.executor import sandbox as walls
from chronoshard.executor.environment import run_marker, task_environment
from chronoshard.executor.output import SCRATCH
from chronoshard.executor.runtimes import HTTP, Runtime, Runtimes, http_program
from chronoshard.executor.sandbox import Sandbox
from chronoshard.executor.tasks import Tasks
from chronoshard.link import StartOrder

MEGABYTE = 1024 * 1024


class _Place(NamedTuple):
    """Paths as the task sees them, and the directory in which its outermost program is started."""

    code: str
    cwd: str
    home: str
    temporary: str


class Launch:
    """Prepares attempts. `lives` holds one directory per incarnation, below it one per attempt."""

    def __init__(self, lives: Path, tasks: Tasks, runtimes: Runtimes, sandbox: Sandbox, *, pids: int) -> None:
        self._lives = lives
        self._tasks = tasks
        self._runtimes = runtimes
        self._sandbox = sandbox
        self._pids = pids

    @property
    def sandboxed(self) -> bool:
        return self._sandbox.sandboxed

    def directory(self, order: StartOrder) -> Path:
        """Return where the attempt's output lies while it is here."""
        return self._lives / order.incarnation / "attempts" / attempt_name(order)

    def prepare(self, order: StartOrder, *, lane: int) -> dict[str, Any]:
        """Return the message that starts the attempt, in a lane that no other running attempt has.

        Raises NotFound, InvalidInput (the code cannot be had), Unavailable (not now), OSError (our own disk).
        """
        runtime = self._runtimes.get(order.runtime)
        code = self._code(order, runtime)
        directory = self.directory(order)
        directory.mkdir(parents=True, exist_ok=True)
        place = self._place(directory, code, runtime)
        network = order.network or order.runtime == HTTP
        environment = task_environment(order, home=place.home, temporary=place.temporary)
        for name, value in runtime.variables.items():
            environment[name] = value.replace("{temporary}", place.temporary)
        return {
            "op": "start",
            "id": order.key.name,
            "name": f"{order.incarnation}-{attempt_name(order)}",
            "marker": run_marker(order),
            "argv": self._sandbox.command(
                runtime.argv(place.code, network=network), files={place.code: code}, network=network, lane=lane
            ),
            "env": environment,
            "cwd": place.cwd,
            "stdin": _stdin(order),
            "stdout": str(directory / "stdout"),
            "stderr": str(directory / "stderr"),
            "output_limit": order.output_limit,
            "timeout_ms": order.timeout_ms,
            "memory_bytes": order.memory_mb * MEGABYTE,
            "pids": self._pids + self._sandbox.own_processes,
            "sandboxed": self._sandbox.sandboxed,
            "uid": self._sandbox.uid(lane),
            "file_bytes": 0 if self._sandbox.sandboxed else self._sandbox.temporary_bytes,
        }

    def _place(self, directory: Path, code: Path, runtime: Runtime) -> _Place:
        if self._sandbox.sandboxed:
            return _Place(f"{walls.TASK}/main{runtime.suffix}", "/", walls.HOME, walls.TEMPORARY)
        work, temporary = directory / SCRATCH / "work", directory / SCRATCH / "tmp"
        for path in (work, temporary):
            path.mkdir(parents=True, exist_ok=True)
        return _Place(str(code), str(work), str(work), str(temporary))

    def _code(self, order: StartOrder, runtime: Runtime) -> Path:
        if order.runtime == HTTP:
            return http_program()
        return self._tasks.path(order.task_id, runtime=order.runtime, suffix=runtime.suffix)


def attempt_name(order: StartOrder) -> str:
    """Return a name of the attempt that is safe as that of a file."""
    return f"{order.key.run.id}-{order.key.attempt}"


def _stdin(order: StartOrder) -> str:
    """Return what the program reads: the params, or for `http` the call."""
    if order.http is None:
        return order.params.decode()
    call = {name: getattr(order.http, name) for name in order.http.__struct_fields__}
    return msgspec.json.encode({**call, "timeout_s": order.timeout_ms / 1000}).decode()
