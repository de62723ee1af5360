"""Ends what earlier lives of an executor left running, before the next one says that it is ready.

Three traces lead to it: the control groups, which nothing can leave; the journal of processes; and the
incarnation that every task carries in its environment. Standard library only: the supervisor imports it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Iterable
from pathlib import Path

from chronoshard.executor import process_tree
from chronoshard.executor.cgroups import Hierarchy, groups_in, processes_in
from chronoshard.executor.process_tree import Process, Snapshot

INCARNATION_VARIABLE = "CHRONOSHARD_INCARNATION"
ROUND_S = 0.5  # how long killed processes get to be gone before they are looked for again


class Journal:
    """A directory with one empty file per process of a life, named after it: survives any crash of ours.

    Not synced to disk: what a crash of the machine could lose, it ends too.
    """

    def __init__(self, life: Path) -> None:
        self._directory = life / "processes"
        self._directory.mkdir(parents=True, exist_ok=True)
        self._boot = process_tree.boot_id()
        self._names: set[str] = set()  # of the entries made by this object

    def keep(self, processes: Iterable[Process]) -> None:
        """Make these its entries, and no others."""
        names = {f"{process.pid}.{process.start_ticks}.{self._boot}" for process in processes}
        for name in names - self._names:
            with contextlib.suppress(OSError):  # a full disk must not end the supervisor
                (self._directory / name).touch()
        for name in self._names - names:
            (self._directory / name).unlink(missing_ok=True)
        self._names = names

    def living(self, processes: Snapshot) -> set[int]:
        """Return the pids of the entries that still live, of this boot and with their own start time."""
        found = set()
        for path in self._directory.iterdir():
            pid, ticks, boot = path.name.split(".")
            process = processes.get(int(pid))
            if boot == self._boot and process is not None and process.start_ticks == int(ticks):
                found.add(process.pid)
        return found

    def clear(self) -> None:
        for path in self._directory.iterdir():
            path.unlink(missing_ok=True)


def end_leftovers(lives: Path, hierarchy: Hierarchy) -> None:
    """Kill everything that any life under `lives` left, again and again until nothing of it is found."""
    journals = {life.name: Journal(life) for life in lives.iterdir()}
    while True:
        grouped: set[int] = set().union(*map(processes_in, groups_in(hierarchy)))
        processes = process_tree.snapshot()  # after the groups were read: it has every one of them that lives
        found = processes.keys() & (grouped | _traced(processes, journals)) - {os.getpid()}
        if not found:
            break
        process_tree.signal_all(processes, found, signal.SIGKILL)
        _wait_gone(found)
    for journal in journals.values():
        journal.clear()
    for group in groups_in(hierarchy):
        with contextlib.suppress(OSError):
            group.rmdir()


def _traced(processes: Snapshot, journals: dict[str, Journal]) -> set[int]:
    found: set[int] = set()
    for incarnation, journal in journals.items():
        found |= process_tree.descendants(processes, journal.living(processes))
        found |= process_tree.marked(processes, f"{INCARNATION_VARIABLE}={incarnation}")
    return found


def _wait_gone(pids: set[int]) -> None:
    """Wait until each has ended, for ROUND_S at most."""
    poll = select.poll()
    handles = []
    for pid in pids:
        try:
            handles.append(os.pidfd_open(pid))
        except ProcessLookupError:
            continue
        poll.register(handles[-1], select.POLLIN)
    waiting = len(handles)
    while waiting and (gone := poll.poll(ROUND_S * 1000)):
        for handle, _ in gone:
            poll.unregister(handle)
        waiting -= len(gone)
    for handle in handles:
        os.close(handle)
