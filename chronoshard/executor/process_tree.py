"""Finds and ends everything that an attempt has started, also what ran away from it.

A process is named by its pid and its start time, so that a signal never reaches a stranger who was given the
same pid later. Standard library only: the supervisor imports it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Mapping
from typing import NamedTuple

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Process(NamedTuple):
    """A live process. `start_ticks` counts clock ticks since boot; `group` is its process group."""

    pid: int
    parent: int
    group: int
    start_ticks: int
    resident_bytes: int


Snapshot = Mapping[int, Process]


def boot_id() -> str:
    """Return what tells this boot of the machine from every other: start times are only unique within one."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def read_process(pid: int) -> Process | None:
    """Return the process; None when it is gone or only waits to be reaped."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b") ")[2].split()  # the name before may hold spaces and brackets
    except OSError:
        return None
    if not fields or fields[0] in (b"Z", b"X"):
        return None
    return Process(pid, int(fields[1]), int(fields[2]), int(fields[19]), int(fields[21]) * PAGE_BYTES)


def snapshot() -> dict[int, Process]:
    """Return all live processes by pid."""
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return {process.pid: process for process in map(read_process, pids) if process is not None}


def proportional_bytes(pid: int) -> int:
    """Return the memory of a process, what it shares divided among those who share it. Costs a millisecond."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return 0
    return 0


def descendants(processes: Snapshot, roots: Iterable[int]) -> set[int]:
    """Return the pids of `roots` that live and of everything below them."""
    children: dict[int, list[int]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process.pid)
    found: set[int] = set()
    waiting = [pid for pid in roots if pid in processes]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children.get(pid, ())
    return found


def marked(processes: Iterable[int], marker: str) -> set[int]:
    """Return those of `processes` whose environment holds the line `marker` (NAME=value)."""
    line = b"\0" + marker.encode() + b"\0"
    found = set()
    for pid in processes:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                environment = file.read()
        except OSError:
            continue
        if line in b"\0" + environment:
            found.add(pid)
    return found


def threads_of(uid: int) -> int:
    """Return how many threads a user has, as the kernel counts them against RLIMIT_NPROC."""
    total = 0
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == uid:
                total += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue
    return total


def send_signal(process: Process, number: int) -> bool:
    """Signal exactly this process; False when it is gone, or not ours to signal."""
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    try:
        now = read_process(process.pid)
        if now is None or now.start_ticks != process.start_ticks:
            return False
        signal.pidfd_send_signal(handle, number)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        os.close(handle)
    return True


def signal_all(processes: Snapshot, pids: Iterable[int], number: int) -> int:
    """Signal each of `pids` that is in `processes`; return how many were there."""
    return sum(send_signal(processes[pid], number) for pid in pids if pid in processes)
