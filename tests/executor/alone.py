"""An executor in a process of its own, to be killed and frozen: `python -m tests.executor.alone DIRECTORY JSON`.

JSON are its options. The program prints `ready`, starts each line of standard input as a shell task, and prints
`result STATE ERROR` for what ends. `Alone` is its other end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Self

import psutil

from chronoshard.failpoints import arm_from
from chronoshard.link import Result
from tests.executor.bench import Bench, Orchestrator

ROOT = Path(__file__).parents[2]


class Alone:
    """Begins when it is made; `with` ends it. `path` is where its programs are."""

    def __init__(
        self,
        directory: Path,
        *,
        path: str = os.environ["PATH"],
        failpoints: str = "",
        wait: bool = True,
        **options: Any,
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.executor.alone", str(directory), json.dumps(options)],
            cwd=ROOT,
            env=os.environ | {"PATH": path, "CHRONOSHARD_FAILPOINTS": failpoints},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        if wait:
            self.hears("ready")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def hears(self, beginning: str) -> str:
        """Return the next line that begins so."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            if line.startswith(beginning):
                return line.strip()
        raise AssertionError("the executor has ended")

    def begin(self, source: str, timeout_ms: int = 600_000) -> None:
        stdin: IO[str] | None = self.process.stdin
        assert stdin is not None
        stdin.write(json.dumps({"source": source, "timeout_ms": timeout_ms}) + "\n")
        stdin.flush()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)


def supervisor_of(pid: int) -> psutil.Process:
    """Return the supervisor of the executor in this process."""
    [found] = [
        process
        for process in psutil.Process(pid).children()
        if "chronoshard.executor.supervisor" in process.cmdline()
    ]
    return found


class Telling(Orchestrator):
    """Prints the results that it accepts."""

    def results(self, executor: str, batch: Sequence[Result]) -> list[bool]:
        for result in batch:
            print("result", result.state, result.error, flush=True)
        return super().results(executor, batch)


def main() -> None:
    arm_from(os.environ["CHRONOSHARD_FAILPOINTS"])
    bench = Bench(Path(sys.argv[1]))
    bench.orchestrator = Telling()
    bench.start(**json.loads(sys.argv[2]))
    print("ready", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        bench.begin("shell", order["source"], timeout_ms=order["timeout_ms"])
    bench.stop()


if __name__ == "__main__":
    main()
