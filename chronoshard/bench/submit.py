"""How many jobs a second are accepted, durable before they are answered: one at a time and in batches."""

from __future__ import annotations

import time

from chronoshard.bench.scene import BATCH, Outcome, Scene, noop, scene
from chronoshard.bench.spread import spread

SINGLE = 2_000
BATCHED = 20_000
ROUNDS = 3
FAR_S = 86_400.0  # due tomorrow: nothing runs meanwhile


def submit() -> Outcome:
    outcome = Outcome("submit: one-off jobs over HTTP, one connection, durable before answered")
    with scene() as one:
        _single(one, 200)  # warm up
        singles = [_single(one, SINGLE) for _ in range(ROUNDS)]
        batches = [_batched(one, BATCHED) for _ in range(ROUNDS)]
    outcome.figures["one at a time"] = spread(singles, "jobs/s")
    outcome.figures[f"batches of {BATCH:,}"] = spread(batches, "jobs/s")
    return outcome


def _single(one: Scene, count: int) -> float:
    body = noop(time.time() + FAR_S)
    start_s = time.perf_counter()
    for _ in range(count):
        one.client.jobs.create(body)
    return count / (time.perf_counter() - start_s)


def _batched(one: Scene, count: int) -> float:
    bodies = [noop(time.time() + FAR_S)] * count
    start_s = time.perf_counter()
    one.submit(bodies)
    return count / (time.perf_counter() - start_s)
