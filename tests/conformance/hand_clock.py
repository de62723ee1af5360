"""A clock that a test turns by hand."""

from __future__ import annotations


class HandClock:
    """Wall time and monotonic time; `advance` moves both, `jump` only what hangs on the wall."""

    def __init__(self) -> None:
        self._now_ms = 1_800_000_000_000
        self._monotonic_s = 5_000.0

    def now_ms(self) -> int:
        return self._now_ms

    def monotonic_s(self) -> float:
        return self._monotonic_s

    def advance(self, seconds: float) -> None:
        self._monotonic_s += seconds
        self.jump(seconds)

    def jump(self, seconds: float) -> None:
        self._now_ms += round(seconds * 1000)
