"""The small program that holds every process of one executor: `python -m chronoshard.executor.supervisor`.

It runs in a session of its own, spawns every attempt, and enforces all deadlines on CLOCK_BOOTTIME, so that
they hold while the executor is frozen and across a suspended machine. It kills everything at once when the
executor is gone (its channel closes), and when no beat has counted for too long: nothing of an attempt is
live by the time anybody may call it LOST (invariant 4). Standard library only and single-threaded: it starts
in milliseconds and can fork safely.

Spoken over the channel, one JSON object per line. To us: `start` (an order), `kill` (id), `alive` (until_s).
From us: `ready`, `started`, `ended`, and `alive` in answer to an `alive`, so that the executor notices when we
are stuck.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import selectors
import signal
import socket
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from chronoshard.executor import process_tree
from chronoshard.executor.attempt_process import AttemptProcess, Pump
from chronoshard.executor.cgroups import Group, find_hierarchy, remove_hierarchy
from chronoshard.executor.leftovers import Journal, end_leftovers

SUBREAPER = 36  # prctl option: orphans below us become our children
IDLE_S = 1.0  # longest sleep: also how late a deadline may be noticed after the machine was suspended
WATCH_S = 0.25  # how often the tree of an attempt without a control group is measured
SWEEP_S = 0.02  # how often a tree that has to die is looked at
RECEIVE_BYTES = 256 * 1024


def boottime_s() -> float:
    """Return seconds since boot, suspended time included: the clock of all deadlines here."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Supervisor:
    """One per executor. `lives` holds the journals of all its incarnations, see leftovers.py."""

    def __init__(self, channel: socket.socket, *, group: str, lives: Path, incarnation: str) -> None:
        self._channel = channel
        self._lives = lives
        self._journal = Journal(lives / incarnation)
        self._parent = os.getppid()
        self._hierarchy = find_hierarchy(group)
        self._selector = selectors.DefaultSelector()
        self._attempts: dict[str, AttemptProcess] = {}
        self._alive_until_s = 0.0  # nothing may run before the first beat has counted
        self._incoming = b""
        self._outgoing = b""
        self._closing = False
        self._hurried = False
        self._next_tick_s = 0.0

    def run(self) -> None:
        """Serve until the executor is gone and everything it started is dead."""
        wake_in, wake_out = socket.socketpair()
        for end in (wake_in, wake_out, self._channel):
            end.setblocking(False)
        signal.set_wakeup_fd(wake_out.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(wake_in, selectors.EVENT_READ, partial(wake_in.recv, 4096))
        self._selector.register(self._channel, selectors.EVENT_READ, self._receive)
        end_leftovers(self._lives, self._hierarchy)
        self._send({"event": "ready", "limits": self._hierarchy.kind})
        while not (self._closing and not self._attempts):
            delay_s = min(max(self._next_tick_s - boottime_s(), 0.0), IDLE_S)
            for key, _ in self._selector.select(delay_s):
                key.data()
            self._reap()
            if boottime_s() >= self._next_tick_s:
                self._tick(boottime_s())
            self._flush()
        remove_hierarchy(self._hierarchy)

    def _receive(self) -> None:
        try:
            data = self._channel.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._close()
            return
        *lines, self._incoming = (self._incoming + data).split(b"\n")
        for line in lines:
            self._obey(json.loads(line))

    def _obey(self, message: dict[str, Any]) -> None:
        self._next_tick_s = 0.0
        match message["op"]:
            case "start":
                self._start(message)
            case "kill":
                if attempt := self._attempts.get(message["id"]):
                    attempt.stop("cancel", now_s=boottime_s())
            case "alive":
                self._alive_until_s = max(self._alive_until_s, message["until_s"])
                self._send({"event": "alive", "until_s": message["until_s"]})

    def _start(self, order: dict[str, Any]) -> None:
        now_s = boottime_s()
        group = Group(self._hierarchy, order["name"], memory_bytes=order["memory_bytes"], pids=order["pids"])
        try:
            if self._closing or now_s >= self._alive_until_s:
                raise OSError("no beat of this executor counts any more")
            attempt = AttemptProcess(order, group, now_s=now_s)
        except OSError as error:
            group.remove()
            self._send(
                {"event": "ended", "id": order["id"], "cause": "spawn", "errno": error.errno, "detail": str(error)}
            )
            return
        self._attempts[attempt.id] = attempt
        self._note_processes()
        for descriptor, pump in attempt.open_pumps.items():
            self._selector.register(descriptor, selectors.EVENT_READ, partial(self._pump, attempt, pump))
        self._send(
            {
                "event": "started",
                "id": attempt.id,
                "pid": attempt.pid,
                "start_ticks": attempt.process.start_ticks,
            }
        )

    def _pump(self, attempt: AttemptProcess, pump: Pump) -> None:
        if not pump.read():
            self._selector.unregister(pump.descriptor)
            del attempt.open_pumps[pump.descriptor]
            self._next_tick_s = 0.0

    def _reap(self) -> None:
        """Reap every child that has ended, also the orphans that became ours."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                self._next_tick_s = 0.0
                any(attempt.reaped(pid, status) for attempt in self._attempts.values())

    def _tick(self, now_s: float) -> None:
        """Hold every deadline and limit, and carry on with what has to die."""
        if os.getppid() != self._parent:
            self._close()
        silent = now_s >= self._alive_until_s
        if silent:
            self._kill_silent(now_s)
        attempts = list(self._attempts.values())
        for attempt in attempts:
            if now_s >= attempt.deadline_s:
                attempt.stop("timeout", now_s=now_s)
        dying = [a for a in attempts if a.dying(now_s=now_s)]
        watched = [a for a in attempts if a.watched]
        if dying or watched:
            processes = process_tree.snapshot()
            self._watch(watched, processes, now_s)
            for attempt in attempts:
                attempt.sweep(processes, now_s=now_s)
        for attempt in attempts:
            if attempt.ended(now_s=now_s):
                self._end(attempt)
        pause_s = SWEEP_S if dying else WATCH_S if watched else IDLE_S
        due_s = [a.due_s for a in self._attempts.values() if not a.dying(now_s=now_s)]
        self._next_tick_s = min([now_s + pause_s, *due_s, *([] if silent else [self._alive_until_s])])

    def _kill_silent(self, now_s: float) -> None:
        """The executor may be condemned already: what it runs may be started elsewhere at any moment."""
        for attempt in self._attempts.values():
            if not attempt.dying(now_s=now_s):
                attempt.kill("silence", now_s=now_s)

    def _watch(
        self, watched: list[AttemptProcess], processes: dict[int, process_tree.Process], now_s: float
    ) -> None:
        """Do what no control group does: hold the limits, and kill children that belong to nobody."""
        for attempt in watched:
            if attempt.kill_at_s is None and (limit := attempt.over_limit(processes)):
                attempt.kill(limit, now_s=now_s)
        self._hurry(any(attempt.cause == "pids" for attempt in watched))
        if not watched:
            return
        owned = set().union(*(attempt.tree(processes) for attempt in self._attempts.values()))
        self._note_processes()
        strangers = {p.pid for p in processes.values() if p.parent == os.getpid()} - owned
        process_tree.signal_all(processes, strangers, signal.SIGKILL)

    def _note_processes(self) -> None:
        """Write down those who lead to all others, also to one whose parents are gone."""
        attempts = self._attempts.values()
        self._journal.keep(p for attempt in attempts for p in (attempt.process, *attempt.strays.values()))

    def _hurry(self, needed: bool) -> None:
        """Go before everybody else while a tree that forks without end has to die, as far as we may."""
        if needed != self._hurried:
            self._hurried = needed
            policy = os.SCHED_RR | os.SCHED_RESET_ON_FORK if needed else os.SCHED_OTHER
            with contextlib.suppress(PermissionError):
                os.sched_setscheduler(0, policy, os.sched_param(1 if needed else 0))

    def _end(self, attempt: AttemptProcess) -> None:
        for descriptor in attempt.open_pumps:
            self._selector.unregister(descriptor)
        report = attempt.report()
        attempt.close()
        del self._attempts[attempt.id]
        self._note_processes()
        self._send(report)

    def _close(self) -> None:
        """The executor is gone: nobody could report what runs, so nothing may."""
        if not self._closing:
            self._closing = True
            self._selector.unregister(self._channel)
            for attempt in self._attempts.values():
                attempt.kill("orphaned", now_s=boottime_s())
            self._next_tick_s = 0.0

    def _send(self, message: dict[str, Any]) -> None:
        self._outgoing += json.dumps(message, separators=(",", ":")).encode() + b"\n"

    def _flush(self) -> None:
        """Send what can be sent: a frozen executor must not stop us, one that is closing still listens."""
        if not self._outgoing:
            return
        try:
            sent = self._channel.send(self._outgoing)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._outgoing = b""
            self._close()
            return
        self._outgoing = self._outgoing[sent:]
        if self._closing:
            return
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._outgoing else 0)
        self._selector.modify(self._channel, events, self._receive)


def main() -> None:
    """Arguments: descriptor of the channel, name of the control group, directory of lives, incarnation."""
    descriptor, group, lives, incarnation = sys.argv[1:]
    ctypes.CDLL(None).prctl(SUBREAPER, 1)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    channel = socket.socket(fileno=int(descriptor))
    channel.set_inheritable(False)  # or every task would hold the executor's end of life in its hands
    Supervisor(channel, group=group, lives=Path(lives), incarnation=incarnation).run()


if __name__ == "__main__":
    main()
