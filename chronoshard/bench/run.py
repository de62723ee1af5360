"""Runs the scenarios and prints their figures with the conditions they were measured under."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import sys
import time
from collections.abc import Callable

from chronoshard import logs
from chronoshard.bench.drain import drain
from chronoshard.bench.lateness import lateness
from chronoshard.bench.scene import Outcome
from chronoshard.bench.stored import stored
from chronoshard.bench.submit import submit

SCENARIOS: dict[str, Callable[[], Outcome]] = {
    "drain": drain,
    "lateness": lateness,
    "submit": submit,
    "stored": stored,
}


def main(arguments: list[str]) -> int:
    """Run the scenarios named, all without names; exit 1 when one found a problem."""
    parser = argparse.ArgumentParser(prog="chronoshard bench", description=__doc__)
    parser.add_argument("scenario", nargs="*", choices=[*SCENARIOS, []], help="drain, lateness, submit, stored")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    os.environ.setdefault("CHRONOSHARD_LOG", "error,console")
    logs.configure()
    outcomes = []
    for name in options.scenario or SCENARIOS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        outcomes.append(SCENARIOS[name]())
    _print(outcomes, as_json=options.json)
    return 1 if any(outcome.problems for outcome in outcomes) else 0


def _conditions() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "cores": str(os.cpu_count()),
        "machine": f"{platform.system()} {platform.machine()}",
        "sqlite": sqlite3.sqlite_version,
        "durability": "every write is synced to disk before it is acknowledged",
        "when": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def _print(outcomes: list[Outcome], *, as_json: bool) -> None:
    if as_json:
        found = {o.name: {"figures": o.figures, "problems": o.problems} for o in outcomes}
        print(json.dumps({"conditions": _conditions(), "scenarios": found}, indent=2))
        return
    for name, value in _conditions().items():
        print(f"{name:<34} {value}")
    for outcome in outcomes:
        print(f"\n{outcome.name}")
        for name, value in outcome.figures.items():
            print(f"  {name:<32} {value}")
        for problem in outcome.problems:
            print(f"  PROBLEM: {problem}")
