"""One attempt's process tree in the supervisor: started, bounded, ended, all of it.

It has ended only when nothing of its tree lives and both streams are read to their end, so that whoever hears
of the end may start the next attempt (invariant 4). Standard library only: the supervisor imports it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
from typing import Any, Literal

from chronoshard.executor import process_tree
from chronoshard.executor.cgroups import Group
from chronoshard.executor.process_tree import Process, Snapshot
from chronoshard.executor.spawn import spawn

TERM_GRACE_S = 5.0  # between SIGTERM and SIGKILL, as tasks are promised
PIPE_GRACE_S = 1.0  # for what a dead tree left in its pipes; a descriptor passed to a stranger ends here
READ_BYTES = 256 * 1024


Cause = Literal["timeout", "cancel", "silence", "memory", "pids", "orphaned", "spawn"]


class Pump:
    """Reads one stream to its end and keeps the first `limit` bytes in a file."""

    def __init__(self, path: str, limit: int) -> None:
        self.descriptor = -1  # set when there is a stream
        self.kept_bytes = 0
        self.truncated = False
        self._limit = limit
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def read(self) -> bool:
        """Take what is there; False at the end of the stream."""
        try:
            data = os.read(self.descriptor, READ_BYTES)
        except BlockingIOError:
            return True
        if not data:
            return False
        room = data[: self._limit - self.kept_bytes]
        try:
            written = os.write(self._file, room) if room else 0
        except OSError:  # the executor's own disk is full: the task goes on, its output is cut
            written, self._limit = 0, self.kept_bytes
        self.kept_bytes += written
        self.truncated |= written < len(data)
        return True

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
        os.close(self._file)


class AttemptProcess:
    """Spawned by the constructor; raises OSError when the program cannot be executed."""

    def __init__(self, order: dict[str, Any], group: Group | None, *, now_s: float) -> None:
        self.id: str = order["id"]
        self.marker: str = order["marker"]
        self.deadline_s: float = now_s + order["timeout_ms"] / 1000
        self.kill_at_s: float | None = None  # when SIGTERM has had its grace
        self.cause: Cause | None = None
        self.exit_code: int | None = None  # of the main process, 128 + number for one killed by a signal
        self.dead_since_s: float | None = None  # when the whole tree was seen to be gone
        self.group = group
        self.strays: dict[int, Process] = {}  # seen in the tree at some time: they stay ours when reparented
        self.init_pid: int | None = None  # of the sandbox's own pid namespace
        self._init_reaped = False
        self._sandboxed: bool = order["sandboxed"]
        self._memory_bytes: int = order["memory_bytes"]
        self._pids: int = order["pids"]
        self._status = b""
        self.stdout = Pump(order["stdout"], order["output_limit"])
        self.stderr = Pump(order["stderr"], order["output_limit"])
        try:
            spawned = spawn(order, group)
        except BaseException:
            self.stdout.close()
            self.stderr.close()
            raise
        self.pid, self.stdout.descriptor, self.stderr.descriptor, self._status_descriptor = spawned
        self.process = process_tree.read_process(self.pid) or Process(self.pid, 0, 0, 0, 0)
        self.open_pumps = {pump.descriptor: pump for pump in (self.stdout, self.stderr)}

    def _read_status(self) -> None:
        """Read what the sandbox has said of itself so far."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._status_descriptor, 4096):
                self._status += data
        for line in self._status.splitlines(keepends=True):
            if line.endswith(b"\n"):
                self.init_pid = json.loads(line).get("child-pid", self.init_pid)

    def reaped(self, pid: int, wait_status: int) -> bool:
        """Take note that `pid` has ended; False when it was nothing of this attempt's top level."""
        if self._sandboxed and (self.init_pid is None or pid == self.pid):
            self._read_status()
        if pid == self.pid:
            code = os.waitstatus_to_exitcode(wait_status)
            self.exit_code = code if code >= 0 else 128 - code
            return True
        if pid == self.init_pid:  # its namespace is empty, or the kernel would not have let it go
            self._init_reaped = True
            return True
        return False

    @property
    def sandbox_failed(self) -> bool:
        """Whether the sandbox ended without ever running the task."""
        return self._sandboxed and b"exit-code" not in self._status

    def stop(self, cause: Cause, *, now_s: float) -> None:
        """Ask the tree to end; it is killed TERM_GRACE_S later. The first cause stays."""
        if self.cause is None and self.exit_code is None:
            self.cause = cause
            self.kill_at_s = now_s + TERM_GRACE_S
            self._read_status()
            processes = process_tree.snapshot()
            pids = self.tree(processes)
            if self._sandboxed:  # the sandbox's own two would take the task down without a word
                pids -= {self.pid, self.init_pid or 0}
            if not process_tree.signal_all(processes, pids, signal.SIGTERM):
                self.kill_at_s = now_s  # the sandbox is still being set up: nobody to ask

    def kill(self, cause: Cause, *, now_s: float) -> None:
        """Kill the whole tree now, and go on with it at each `sweep` until nothing is left."""
        if self.exit_code is None and self.cause is None:
            self.cause = cause
        self.kill_at_s = now_s
        if self.group:
            self.group.stop_forking()

    def tree(self, processes: Snapshot) -> set[int]:
        """Return the pids of all that lives of this attempt, whoever its parents are now."""
        found = process_tree.descendants(processes, {self.pid, *(p for p in [self.init_pid] if p)})
        found |= {p for p, seen in self.strays.items() if p in processes and same(processes[p], seen)}
        if self.group and self.group.paths:
            return found | self.group.processes()
        if not self._sandboxed:  # who ran away from its parent is our own child now: we are the subreaper
            orphans = {pid for pid, process in processes.items() if process.parent == os.getpid()}
            found |= process_tree.marked(orphans - found, self.marker)
            found = process_tree.descendants(processes, found)
            self.strays = {pid: processes[pid] for pid in found}
        return found

    def dying(self, *, now_s: float) -> bool:
        """Whether nothing of the tree may live any more."""
        return self.exit_code is not None or (self.kill_at_s is not None and now_s >= self.kill_at_s)

    @property
    def due_s(self) -> float:
        """When something has to be done about it next."""
        return self.deadline_s if self.kill_at_s is None else self.kill_at_s

    def sweep(self, processes: Snapshot, *, now_s: float) -> None:
        """Kill what lives of a tree whose time is over; note when nothing does."""
        if not self.dying(now_s=now_s) or self.dead_since_s is not None:
            return
        living = self.tree(processes)
        if living and self.group:
            self.group.stop_forking()
        self._strike(processes, living)
        if not living and self.exit_code is not None and (self._init_reaped or self.init_pid is None):
            self.dead_since_s = now_s

    def _strike(self, processes: Snapshot, living: set[int]) -> None:
        """Kill; first what takes many down in one call, or a tree that forks faster than we do would win."""
        if any(processes[pid].group == self.pid for pid in living if pid in processes):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        heads = [pid for pid in (self.init_pid, self.pid) if pid in living]
        process_tree.signal_all(processes, [*heads, *living], signal.SIGKILL)

    def over_limit(self, processes: Snapshot) -> Cause | None:
        """Return which limit the tree exceeds, of those that no control group holds."""
        tree = self.tree(processes)
        limits_pids = self.group is not None and self.group.limits_pids
        if not limits_pids and len(tree) > self._pids:
            return "pids"
        limits_memory = self.group is not None and self.group.limits_memory
        resident = sum(processes[pid].resident_bytes for pid in tree if pid in processes)
        if limits_memory or resident <= self._memory_bytes:
            return None
        # What forked processes share was counted once for each: look closer.
        return "memory" if sum(map(process_tree.proportional_bytes, tree)) > self._memory_bytes else None

    @property
    def watched(self) -> bool:
        """Whether the supervisor has to look after its limits, or after those who might run away."""
        return self.group is None or not (self.group.limits_memory and self.group.limits_pids)

    def ended(self, *, now_s: float) -> bool:
        if self.dead_since_s is None:
            return False
        return not self.open_pumps or now_s - self.dead_since_s >= PIPE_GRACE_S

    def report(self) -> dict[str, Any]:
        """Return how it ended; closes nothing."""
        cause, refused = self.cause, self.group.refused_forks() if self.group else 0
        if cause is None and self.exit_code and self.group and self.group.memory_kills():
            cause = "memory"
        return {
            "event": "ended",
            "id": self.id,
            "exit_code": self.exit_code,
            "cause": cause,
            "refused_forks": refused,
            "sandbox_failed": self.sandbox_failed,
            "stdout_bytes": self.stdout.kept_bytes,
            "stderr_bytes": self.stderr.kept_bytes,
            "stdout_truncated": self.stdout.truncated,
            "stderr_truncated": self.stderr.truncated,
        }

    def close(self) -> None:
        self.stdout.close()
        self.stderr.close()
        os.close(self._status_descriptor)
        if self.group:
            self.group.remove()


def same(one: Process, other: Process) -> bool:
    return (one.pid, one.start_ticks) == (other.pid, other.start_ticks)
