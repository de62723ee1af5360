"""The time by which runs are released: the own clock as long as it agrees with the store's.

A clock that is off by more than MAX_SKEW_MS is replaced by the store's plus the own monotonic clock, so that a
machine an hour fast starts nothing early and one an hour slow nothing late (invariant 10).
"""

from __future__ import annotations

from collections.abc import Callable

import structlog

from chronoshard.clock import Clock

log = structlog.get_logger(__name__)

MAX_SKEW_MS = 1_000
COMPARE_EVERY_S = 60.0


class ReferenceClock:
    def __init__(self, clock: Clock, reference_ms: Callable[[], int]) -> None:
        self._clock = clock
        self._reference_ms = reference_ms
        self._compared_s: float | None = None
        self._base: tuple[int, float] | None = None  # reference and monotonic clock, when the own is off

    def compare(self) -> None:
        """Compare the clocks when it is time to. Raises Unavailable: then nothing may be released yet."""
        now_s = self._clock.monotonic_s()
        if self._compared_s is not None and now_s - self._compared_s < COMPARE_EVERY_S:
            return
        reference_ms = self._reference_ms()
        skew_ms = self._clock.now_ms() - reference_ms
        if abs(skew_ms) > MAX_SKEW_MS:
            log.error("clock.skew", skew_ms=skew_ms, action="released by the store's clock")
            self._base = (reference_ms, self._clock.monotonic_s())
        else:
            self._base = None
        self._compared_s = now_s

    def now_ms(self) -> int:
        if self._base is None:
            return self._clock.now_ms()
        reference_ms, then_s = self._base
        return reference_ms + int((self._clock.monotonic_s() - then_s) * 1000)
