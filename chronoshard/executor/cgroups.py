"""Memory and process limits by the kernel's control groups, one group per attempt.

Version 2 where it is delegated to us, else version 1, else nothing: then the supervisor adds up the process
tree. A group also names its processes for certain: none can leave it, whatever it forks. Standard library
only: the supervisor imports it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

OWN_GROUP = Path("/proc/self/cgroup")
MOUNTS = Path("/proc/self/mounts")
LEAF = "chronoshard-parts"  # where we move ourselves, version 2 only


class Hierarchy(NamedTuple):
    """Where the groups of one executor are made. A controller that we may not use is None."""

    version: int
    memory: Path | None
    pids: Path | None

    @property
    def kind(self) -> str:
        return f"cgroup v{self.version}" if self.memory and self.pids else "process tree"


NO_HIERARCHY = Hierarchy(0, None, None)


class Group:
    """The control group of one attempt. Limits that no controller holds are the supervisor's to watch."""

    def __init__(self, hierarchy: Hierarchy, name: str, *, memory_bytes: int, pids: int) -> None:
        self._version = hierarchy.version
        self._memory = _make(hierarchy.memory, name)
        self._pids = _make(hierarchy.pids, name)
        self.paths = list(dict.fromkeys(path for path in (self._memory, self._pids) if path))
        if self._memory and self._version == 2:
            _write(self._memory / "memory.max", memory_bytes)
            _write(self._memory / "memory.swap.max", 0)
            _write(self._memory / "memory.oom.group", 1)
        elif self._memory:
            _write(self._memory / "memory.limit_in_bytes", memory_bytes)
            _write(self._memory / "memory.memsw.limit_in_bytes", memory_bytes)
        if self._pids:
            _write(self._pids / "pids.max", pids)

    @property
    def limits_memory(self) -> bool:
        return self._memory is not None

    @property
    def limits_pids(self) -> bool:
        return self._pids is not None

    def join(self) -> None:
        """Move the calling process in; called between fork and exec, so that no child is ever outside.

        Version 1 can move a single thread, and a thread that moves itself waits for no lock of all processes
        (10 to 20 ms each time otherwise).
        """
        for path in self.paths:
            (path / ("cgroup.procs" if self._version == 2 else "tasks")).write_text("0")

    def processes(self) -> set[int]:
        """Return the pids of everything that lives in the group; empty without one."""
        found: set[int] = set()
        for path in self.paths:
            found |= processes_in(path)
        return found

    def stop_forking(self) -> None:
        """Let nothing new start: then killing what is there is the end of it, also of a fork bomb."""
        if self._pids:
            _write(self._pids / "pids.max", 0)

    def memory_kills(self) -> int:
        """Return how often the kernel killed a process here for want of memory."""
        if self._memory is None:
            return 0
        return _counter(
            self._memory / ("memory.events" if self._version == 2 else "memory.oom_control"), "oom_kill"
        )

    def refused_forks(self) -> int:
        """Return how often a process here was refused a child."""
        return _counter(self._pids / "pids.events", "max") if self._pids else 0

    def remove(self) -> None:
        """Remove the empty group; what cannot be removed now goes with the leftovers of the next life."""
        for path in self.paths:
            with contextlib.suppress(OSError):
                path.rmdir()


def find_hierarchy(name: str) -> Hierarchy:
    """Return where groups under `name` can be made: tried out, not guessed. Nowhere without a name."""
    if not name:
        return NO_HIERARCHY
    mounts = dict(_mounts())
    own = dict(_own_groups())
    if "memory" in mounts and "pids" in mounts:
        memory = _writable(mounts["memory"], own.get("memory", "/"), name)
        pids = _writable(mounts["pids"], own.get("pids", "/"), name)
        if memory or pids:
            return Hierarchy(1, memory, pids)
    if "" in mounts:
        ours = own.get("", "/").removesuffix(f"/{LEAF}")
        for parent in dict.fromkeys((ours, "/")):  # at the root only who is root may
            if _delegate(mounts[""] / parent.lstrip("/")):
                group = _writable(mounts[""], parent, name)
                if group and _enable(group):
                    return Hierarchy(2, group, group)
    return NO_HIERARCHY


def groups_in(hierarchy: Hierarchy) -> Iterator[Path]:
    """Yield every attempt's group that exists under the hierarchy, also of earlier lives."""
    for root in dict.fromkeys((hierarchy.memory, hierarchy.pids)):
        if root is not None:
            yield from (path for path in root.iterdir() if path.is_dir())


def remove_hierarchy(hierarchy: Hierarchy) -> None:
    """Remove the executor's own group, if nothing is in it any more."""
    for root in dict.fromkeys((hierarchy.memory, hierarchy.pids)):
        if root is not None:
            with contextlib.suppress(OSError):
                root.rmdir()


def processes_in(group: Path) -> set[int]:
    """Return the pids in one group; empty when it is gone."""
    try:
        return {int(line) for line in (group / "cgroup.procs").read_text().split()}
    except OSError:
        return set()


def _mounts() -> Iterator[tuple[str, Path]]:
    """Yield (controller, where it is mounted); the unified hierarchy has the name of none."""
    for line in MOUNTS.read_text().splitlines():
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup2":
            yield "", Path(where)
        elif kind == "cgroup":
            for option in options.split(","):
                if option in ("memory", "pids"):
                    yield option, Path(where)


def _own_groups() -> Iterator[tuple[str, str]]:
    """Yield (controller, path of our own group in its hierarchy)."""
    for line in OWN_GROUP.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            yield controller, path


def _writable(mount: Path, own: str, name: str) -> Path | None:
    """Make and return the executor's group, below our own if that is visible here; None when we may not."""
    parent = mount / own.lstrip("/")
    group = (parent if parent.is_dir() else mount) / name
    try:
        group.mkdir(exist_ok=True)
        probe = group / "probe"
        probe.mkdir(exist_ok=True)
        probe.rmdir()
    except OSError:
        return None
    return group


def _delegate(parent: Path) -> bool:
    """Hand the two controllers down from our own version 2 group.

    A group that has processes can hand nothing down: if they are only the executor and its supervisor, they
    move into a leaf.
    """
    if _enable(parent):
        return True
    there = processes_in(parent)
    if there - {os.getppid(), os.getpid()}:
        return False
    leaf = parent / LEAF
    try:
        leaf.mkdir(exist_ok=True)
        for pid in there:
            (leaf / "cgroup.procs").write_text(str(pid))
    except OSError:
        return False
    return _enable(parent)


def _enable(group: Path) -> bool:
    try:
        if {"memory", "pids"} - set((group / "cgroup.controllers").read_text().split()):
            return False
        (group / "cgroup.subtree_control").write_text("+memory +pids")
    except OSError:
        return False
    return True


def _make(root: Path | None, name: str) -> Path | None:
    if root is None:
        return None
    path = root / name
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return path


def _write(path: Path, value: int) -> None:
    """Set a limit; a kernel without this file (no swap accounting) holds the others."""
    with contextlib.suppress(OSError):
        path.write_text(str(value))


def _counter(path: Path, name: str) -> int:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.split()[0] == name)
