"""10,000 one-off jobs that do nothing, all due at one instant: how fast they are final in the store."""

from __future__ import annotations

import time

from chronoshard.bench.scene import Outcome, Scene, noop, quantile, scene
from chronoshard.bench.spread import spread

JOBS = 10_000
ROUNDS = 3
LEAD_S = 8.0  # between the submit and the instant
TIMEOUT_S = 120.0


def drain() -> Outcome:
    outcome = Outcome(f"drain: {JOBS:,} no-op jobs due at one instant, {ROUNDS} rounds")
    rates: list[float] = []
    cpus: list[float] = []
    with scene() as one:
        drain_once(one, 1_000, 0)  # warm up
        ended = 1_000
        for _ in range(ROUNDS):
            rate, cpu_us = drain_once(one, JOBS, ended)
            ended += JOBS
            rates.append(rate)
            cpus.append(cpu_us)
        late = one.lateness_ms()
        outcome.figures["from due to final"] = spread(rates, "runs/s")
        outcome.figures["cpu per run, all of the process"] = spread(cpus, "us")
        outcome.figures["lateness of starts p50, p99"] = f"{quantile(late, 0.5)} ms, {quantile(late, 0.99)} ms"
        outcome.figures["lost"] = str(ended - one.ended())
        outcome.figures["double"] = str(one.duplicates())
        if one.ended() != ended or one.duplicates():
            outcome.problems.append("runs were lost or double")
        if late[0] < 0:
            outcome.problems.append("a run started early")
    return outcome


def drain_once(one: Scene, jobs: int, before: int) -> tuple[float, float]:
    """Return runs/s from the due instant to the last final state, and microseconds of CPU per run."""
    due_s = time.time() + LEAD_S
    one.submit([noop(due_s) for _ in range(jobs)])
    if time.time() > due_s - 2:
        raise RuntimeError("the submit took so long that the instant had come")
    time.sleep(due_s - time.time() - 0.5)
    cpu_s = one.cpu_s()
    end_s = one.wait_for_ended(before + jobs, timeout_s=TIMEOUT_S)
    return jobs / (end_s - due_s), (one.cpu_s() - cpu_s) / jobs * 1e6
