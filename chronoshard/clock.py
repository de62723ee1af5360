"""The only place that asks what time it is.

Parts take a `Clock`, decisions take `now_ms`. Wall time only decides what is due; loops and timeouts use the
monotonic clock, so that a stepped wall clock delays nothing (invariant 10).
"""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> int:
        """Return UTC as epoch milliseconds."""

    def monotonic_s(self) -> float:
        """Return seconds of a clock that never steps and is only compared with itself."""


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_s(self) -> float:
        return time.monotonic()
