"""50 runs a second at uniform instants for 60 s: how long after it is due each one starts."""

from __future__ import annotations

import random
import time

from chronoshard.bench.scene import Outcome, noop, quantile, scene

RATE = 50
SECONDS = 60
LEAD_S = 6.0


def lateness() -> Outcome:
    outcome = Outcome(f"lateness: {RATE} runs/s at random instants over {SECONDS} s")
    draw = random.Random(7)
    with scene() as one:
        start_s = time.time() + LEAD_S
        jobs = [noop(start_s + draw.random() * SECONDS) for _ in range(RATE * SECONDS)]
        one.submit(jobs)
        one.wait_for_ended(len(jobs), timeout_s=SECONDS + 30)
        late = one.lateness_ms()
        for share in (0.5, 0.9, 0.99):
            outcome.figures[f"p{share * 100:.0f}"] = f"{quantile(late, share)} ms"
        outcome.figures["max"] = f"{late[-1]} ms"
        outcome.figures["early"] = str(sum(value < 0 for value in late))
        if late[0] < 0:
            outcome.problems.append("a run started early")
    return outcome
