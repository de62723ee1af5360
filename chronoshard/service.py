"""The loop that every part is: wake up, do one pass, sleep until there is something to do.

A pass that fails because a server is away is reported once and tried again with growing pauses; it never ends
the part. Anything unexpected is logged with its trace and treated the same way: a part that stops silently is
the one failure nobody notices.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog

from chronoshard.errors import ChronoshardError, Unavailable

log = structlog.get_logger(__name__)

MAX_PAUSE_S = 5.0  # between two tries while a server is away
FIRST_PAUSE_S = 0.1


class Service:
    """Runs `work` in a thread; `work` returns how many seconds it may sleep at most."""

    def __init__(self, name: str, work: Callable[[], float]) -> None:
        self.name = name
        self._work = work
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._pause_s = FIRST_PAUSE_S

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Let the next pass begin at once."""
        self._wake.set()

    @property
    def stopping(self) -> bool:
        return self._stopped.is_set()

    def stop(self, *, timeout_s: float = 10.0, also_wake: Callable[[], None] = lambda: None) -> None:
        """End after the pass under way; `also_wake` ends what the pass itself may be waiting for."""
        self._stopped.set()
        self._wake.set()
        also_wake()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout_s)

    def _run(self) -> None:
        while not self._stopped.is_set():
            sleep_s = self._pass()
            if sleep_s > 0:
                self._wake.wait(sleep_s)
            self._wake.clear()

    def _pass(self) -> float:
        try:
            sleep_s = self._work()
        except Unavailable as error:
            log.warning("service.waiting", part=self.name, cause=error.detail, code=error.code)
        except ChronoshardError as error:
            log.error("service.failed", part=self.name, cause=error.detail, code=error.code)
        except Exception:
            log.exception("service.crashed", part=self.name)
        else:
            self._pause_s = FIRST_PAUSE_S
            return sleep_s
        pause_s, self._pause_s = self._pause_s, min(MAX_PAUSE_S, self._pause_s * 2)
        return pause_s
