"""An executor in a process of its own, to be killed and frozen: `python -m tests.executor.alone DIRECTORY JSON`.

JSON are its options. It prints `ready`, starts each line of standard input as a shell task, and prints `result
STATE ERROR` for what ends.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from chronoshard.link import Result
from tests.executor.bench import Bench, Orchestrator


class Telling(Orchestrator):
    """Prints the results that it accepts."""

    def results(self, executor: str, batch: Sequence[Result]) -> list[bool]:
        for result in batch:
            print("result", result.state, result.error, flush=True)
        return super().results(executor, batch)


def main() -> None:
    bench = Bench(Path(sys.argv[1]))
    bench.orchestrator = Telling()
    bench.start(**json.loads(sys.argv[2]))
    print("ready", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        bench.begin("shell", order["source"], timeout_ms=order["timeout_ms"])
    bench.executor.stop()


if __name__ == "__main__":
    main()
