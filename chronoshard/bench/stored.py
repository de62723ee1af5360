"""1,000,000 stored future jobs: what they cost while nothing is due, and what they do to the throughput.

Throughput is compared in pairs, empty and full in turn, since machines drift.
"""

from __future__ import annotations

import statistics
import time

from chronoshard.bench.drain import JOBS, drain_once
from chronoshard.bench.scene import BATCH, Outcome, Scene, noop, scene

STORED = 1_000_000
IDLE_S = 30.0
PAIRS = 3
FIRST_S = 86_400.0  # the stored jobs are due from tomorrow on, spread over a month
SPREAD_S = 30 * 86_400.0


def stored() -> Outcome:
    outcome = Outcome(f"stored: {STORED:,} future jobs")
    with scene() as empty, scene() as full:
        began_s = time.perf_counter()
        _fill(full)
        outcome.figures["filling"] = f"{STORED / (time.perf_counter() - began_s):,.0f} jobs/s"
        outcome.figures["idle CPU, empty"] = f"{_idle_share(empty):.2%} of a core"
        outcome.figures["idle CPU, full"] = f"{_idle_share(full):.2%} of a core"
        outcome.figures["memory of all its processes"] = f"{full.memory_mb():.0f} MB"
        ratios = _ratios(empty, full)
    outcome.figures["throughput against an empty store"] = (
        f"{statistics.median(ratios):.2f} (from {min(ratios):.2f} to {max(ratios):.2f}, {PAIRS} pairs)"
    )
    return outcome


def _idle_share(one: Scene) -> float:
    """Return the share of a core that a server uses while nothing is due."""
    cpu_s, began_s = one.cpu_s(), time.perf_counter()
    time.sleep(IDLE_S)
    return (one.cpu_s() - cpu_s) / (time.perf_counter() - began_s)


def _ratios(empty: Scene, full: Scene) -> list[float]:
    """Drain both in turn; return the throughput of the full one over that of the empty one, pair by pair."""
    ended = 0
    ratios = []
    for pair in range(PAIRS + 1):
        base, _ = drain_once(empty, JOBS, ended)
        rate, _ = drain_once(full, JOBS, ended)
        ended += JOBS
        if pair:  # the first pair warms up
            ratios.append(rate / base)
    return ratios


def _fill(one: Scene) -> None:
    base_s = time.time() + FIRST_S
    for start in range(0, STORED, BATCH):
        one.submit([noop(base_s + (start + n) * SPREAD_S / STORED) for n in range(BATCH)])
