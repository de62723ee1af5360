"""A second executor, a process of its own, and the service manager that starts it again when it dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

RESTART_S = 1.0


class SecondExecutor:
    """`failpoints` is handed to the process: a test makes it lose what it runs."""

    def __init__(self, name: str, data: Path, *, slots: int, failpoints: str = "") -> None:
        self.name = name
        self._data = data
        self._slots = slots
        self._environment = {**os.environ, "CHRONOSHARD_FAILPOINTS": failpoints}
        self._stopping = threading.Event()
        self.starts = 0
        self._process = self._start()
        self._manager = threading.Thread(target=self._manage, name="service manager", daemon=True)
        self._manager.start()

    def kill(self) -> int:
        """Send SIGKILL; return the process id that died."""
        pid = self._process.pid
        os.kill(pid, signal.SIGKILL)
        return pid

    def stop(self) -> None:
        self._stopping.set()
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._manager.join(RESTART_S + 5)

    def _start(self) -> subprocess.Popen[bytes]:
        self.starts += 1
        command = [sys.executable, "-m", "chronoshard.cli", "start", "executor"]
        options = ["--name", self.name, "--data", str(self._data), "--slots", str(self._slots)]
        return subprocess.Popen(
            [*command, *options], env=self._environment, stdout=subprocess.DEVNULL, start_new_session=True
        )

    def _manage(self) -> None:
        while not self._stopping.is_set():
            self._process.wait()
            if self._stopping.wait(RESTART_S):
                return
            self._process = self._start()
