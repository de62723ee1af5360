"""What becomes of runs that could not be released in time: run them all, the latest only, or none."""

from __future__ import annotations

from typing import Literal

import msgspec

from chronoshard.domain.trigger import Cron, Dst, Interval, Trigger, occurrences, previous_occurrence

LATE_MS = 60_000  # what is released later than this after its due time is a case for catch-up
WINDOW_MS = 86_400_000


class Catchup(msgspec.Struct, frozen=True, omit_defaults=True):
    """`latest`: only the newest of what was missed; `window_ms`: nothing older than that."""

    mode: Literal["latest", "all", "none"] = "latest"
    window_ms: int = WINDOW_MS


def decide(
    catchup: Catchup, *, nominal_ms: int, due_ms: int, now_ms: int, next_nominal_ms: int | None
) -> str | None:
    """Return why a run that is late is skipped; None: it runs. `next_nominal_ms` is the occurrence after it."""
    if now_ms - due_ms <= LATE_MS:
        return None
    if catchup.mode == "none":
        return "catchup.none"
    if now_ms - nominal_ms > catchup.window_ms:
        return "catchup.window"
    if catchup.mode == "latest" and next_nominal_ms is not None and next_nominal_ms <= now_ms:
        return "catchup.latest"
    return None


def skip_until(catchup: Catchup, trigger: Trigger, *, after_ms: int, now_ms: int, dst: Dst) -> int | None:
    """Return the first nominal time after `after_ms` that may still run, when it is not simply the next one.

    Everything between is one record instead of a row each, however long the absence was. Nothing is jumped over
    that `decide` would run; a run may start late by its jitter, so that much more is left to `decide`.
    """
    if now_ms - after_ms <= LATE_MS:
        return None
    jitter_ms = trigger.jitter_ms if isinstance(trigger, Cron | Interval) else 0
    in_time_ms = now_ms - LATE_MS - jitter_ms
    oldest_ms = min(in_time_ms, now_ms - catchup.window_ms) if catchup.mode == "all" else in_time_ms
    resume_ms = _next(trigger, max(after_ms, oldest_ms - 1), dst)
    if catchup.mode == "latest" and (resume_ms is None or resume_ms > now_ms):
        not_before_ms = max(after_ms + 1, now_ms - catchup.window_ms)
        newest_ms = previous_occurrence(trigger, at_or_before_ms=now_ms, not_before_ms=not_before_ms, dst=dst)
        resume_ms = resume_ms if newest_ms is None else newest_ms
    following_ms = _next(trigger, after_ms, dst)
    return resume_ms if resume_ms is not None and resume_ms != following_ms else None


def _next(trigger: Trigger, after_ms: int, dst: Dst) -> int | None:
    return next(occurrences(trigger, after_ms=after_ms, dst=dst), None)
