"""The executor's end of its supervisor: starts it, speaks to it, notices when it is gone or stuck."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import structlog

from chronoshard.errors import Unavailable
from chronoshard.executor.leftovers import INCARNATION_VARIABLE
from chronoshard.executor.supervisor import boottime_s

log = structlog.get_logger(__name__)

READY_S = 60.0  # it first ends what earlier lives left, which may be much
SEND_S = 5.0  # a supervisor that takes nothing for so long is stuck
ANSWER_S = 5.0
CLOSE_S = 10.0  # it kills everything and leaves
_PACKAGES = Path(__file__).parents[2]

Message = dict[str, Any]


class Supervision:
    """One supervisor process. `heard` gets each of its events, `gone` is called once when it has died.

    Both are called on a thread of ours. After `gone` whatever it held may still live: only the start of the
    next supervisor, which ends all leftovers, tells that it does not.
    """

    def __init__(
        self,
        *,
        lives: Path,
        incarnation: str,
        group: str,
        heard: Callable[[Message], None],
        gone: Callable[[], None],
    ) -> None:
        self._heard = heard
        self._gone = gone
        self._lock = Lock()
        self._ready = Event()
        self._unanswered_s: float | None = None  # boot time of the oldest `alive` without an answer
        self._closing = False
        self.limits = ""
        self._channel, theirs = socket.socketpair()
        timeout = struct.pack("ll", int(SEND_S), 0)
        self._channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, timeout)
        with theirs:
            arguments = [str(theirs.fileno()), group, str(lives), incarnation]
            self._process = subprocess.Popen(
                [sys.executable, "-S", "-m", "chronoshard.executor.supervisor", *arguments],
                env={"PYTHONPATH": str(_PACKAGES), INCARNATION_VARIABLE: incarnation},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
        self._reader = Thread(target=self._read, name="executor-supervision", daemon=True)
        self._reader.start()
        if not self._ready.wait(READY_S) or not self.limits:
            self.close()
            raise Unavailable("the supervisor of the executor does not start", code="executor.supervisor")

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, message: Message) -> None:
        """Send; one that takes nothing is killed, and then `gone` follows."""
        data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        try:
            with self._lock:
                self._channel.sendall(data)
        except OSError:
            self._process.kill()

    def keep_alive(self, until_s: float) -> None:
        """Allow processes to live until this boot time, unless another call moves it on."""
        if self._unanswered_s is None:
            self._unanswered_s = boottime_s()
        self.send({"op": "alive", "until_s": until_s})

    def check(self) -> None:
        """Kill a supervisor that no longer answers: frozen, it would enforce nothing."""
        if self._unanswered_s is not None and boottime_s() - self._unanswered_s > ANSWER_S:
            self._process.kill()

    def close(self) -> None:
        """Let it kill everything, hear of the ends, return when nothing lives. `gone` is not called."""
        self._closing = True
        with contextlib.suppress(OSError):
            self._channel.shutdown(socket.SHUT_WR)
        try:
            self._process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        self._channel.close()

    def _read(self) -> None:
        buffer = b""
        while data := self._receive():
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                self._take(json.loads(line))
        self._ready.set()
        if not self._closing:
            self._process.kill()
            self._process.wait()
            self._channel.close()
            self._gone()

    def _receive(self) -> bytes:
        try:
            return self._channel.recv(65_536)
        except OSError:
            return b""

    def _take(self, event: Message) -> None:
        match event["event"]:
            case "ready":
                self.limits = event["limits"]
                self._ready.set()
            case "alive":
                self._unanswered_s = None
            case _:
                try:
                    self._heard(event)
                except Exception:
                    log.exception("executor.event_failed", event_of=event["event"])
