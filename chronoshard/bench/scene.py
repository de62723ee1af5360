"""A fresh embedded server for one scenario, and what is measured around it."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from chronoshard.client import Client
from chronoshard.client.discovery import FILE_NAME

BATCH = 1_000
POLL_S = 0.02
START_S = 20.0


@dataclass
class Outcome:
    """What one scenario found. `figures` are for people and programs alike: name, value with unit."""

    name: str
    figures: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


class Scene:
    """An embedded server in a process of its own, a client, and eyes on the database file."""

    def __init__(self, data: Path) -> None:
        command = [sys.executable, "-m", "chronoshard.cli", "up", "--data", str(data), "--port", "0"]
        self._server = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        url = _url_of(data, self._server)
        self.client = Client(url, (data / "token").read_text())
        self._database = sqlite3.connect(f"file:{data / 'chronoshard.db'}?mode=ro", uri=True)
        self._process = psutil.Process(self._server.pid)

    def close(self) -> None:
        self._database.close()
        self.client.close()
        self._server.terminate()
        self._server.wait(30)

    def cpu_s(self) -> float:
        """Return the CPU seconds that the server and its children have used."""
        times = [
            self._process.cpu_times(),
            *(child.cpu_times() for child in self._process.children(recursive=True)),
        ]
        return sum(one.user + one.system for one in times)

    def memory_mb(self) -> float:
        """Return the resident memory of the server and its children."""
        processes = [self._process, *self._process.children(recursive=True)]
        return float(sum(process.memory_info().rss for process in processes)) / 1024**2

    def submit(self, bodies: list[dict[str, object]]) -> None:
        """Hand jobs over in batches; every one must be accepted."""
        for start in range(0, len(bodies), BATCH):
            for result in self.client.jobs.create_batch(bodies[start : start + BATCH]):
                if result["status"] != 201:
                    raise RuntimeError(f"a job was refused: {result}")

    def ended(self) -> int:
        """Return how many attempts are in the history."""
        [(count,)] = self._database.execute("SELECT count(*) FROM history").fetchall()
        return int(count)

    def wait_for_ended(self, count: int, *, timeout_s: float) -> float:
        """Wait until so many attempts are in the history; return the wall time (epoch seconds) then."""
        deadline = time.monotonic() + timeout_s
        while self.ended() < count:
            if time.monotonic() > deadline:
                raise RuntimeError(f"only {self.ended()} of {count} attempts ended within {timeout_s} s")
            time.sleep(POLL_S)
        return time.time()

    def lateness_ms(self) -> list[int]:
        """Return by how much each attempt started after it was due, sorted."""
        rows = self._database.execute("SELECT started_ms - due_ms FROM history WHERE started_ms IS NOT NULL")
        return sorted(int(late) for (late,) in rows)

    def duplicates(self) -> int:
        """Return how many runs have more than one attempt."""
        [(count,)] = self._database.execute("SELECT count(*) FROM history WHERE attempt > 0").fetchall()
        return int(count)


@contextlib.contextmanager
def scene() -> Iterator[Scene]:
    """Give a scratch server for the length of a block. `CHRONOSHARD_BENCH_DIR` says on which disk."""
    place = os.environ.get("CHRONOSHARD_BENCH_DIR")
    with tempfile.TemporaryDirectory(prefix="chronoshard-bench-", dir=place) as directory:
        one = Scene(Path(directory))
        try:
            yield one
        finally:
            one.close()


def _url_of(data: Path, server: subprocess.Popen[bytes]) -> str:
    """Wait until the server says where it is."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and server.poll() is None:
        with contextlib.suppress(OSError, ValueError):
            return str(json.loads((data / FILE_NAME).read_text())["url"])
        time.sleep(POLL_S)
    raise RuntimeError("the server did not start")


def noop(at_s: float) -> dict[str, object]:
    """Return a job that does nothing at an instant (epoch seconds)."""
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_s)) + f".{int(at_s % 1 * 1000):03d}Z"
    return {"task": {"runtime": "builtin", "source": "noop"}, "trigger": {"kind": "once", "at": at}}


def quantile(values: list[int], share: float) -> int:
    return values[min(len(values) - 1, int(len(values) * share))]
