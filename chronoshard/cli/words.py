"""Times and durations as people read them. Pure: now and the zone are passed in."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

SECOND_MS = 1_000
MINUTE_MS = 60_000
HOUR_MS = 3_600_000
DAY_MS = 86_400_000
_UNITS = ((DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "m"), (SECOND_MS, "s"))


def duration(length_ms: int) -> str:
    """Return a length in its largest unit, rounded down: `850ms`, `12s`, `4m`, `3h`, `12d`."""
    for unit_ms, letter in _UNITS:
        if length_ms >= unit_ms:
            return f"{length_ms // unit_ms}{letter}"
    return f"{length_ms}ms"


def relative(time_ms: int, now_ms: int) -> str:
    """Return `in 4m`, `3h ago` or `now`."""
    if abs(time_ms - now_ms) < SECOND_MS:
        return "now"
    if time_ms > now_ms:
        return f"in {duration(time_ms - now_ms)}"
    return f"{duration(now_ms - time_ms)} ago"


class Reader(NamedTuple):
    """Who looks: at which instant, in which zone (None: the machine's)."""

    now_ms: int
    zone: tzinfo | None = None

    def local(self, time_ms: int) -> datetime:
        return datetime.fromtimestamp(time_ms / 1000, UTC).astimezone(self.zone)

    def short(self, time_ms: int) -> str:
        """Return the local time, as much of it as is needed: today's without a date."""
        there, here = self.local(time_ms), self.local(self.now_ms)
        if there.date() == here.date():
            return there.strftime("%H:%M:%S")
        return there.strftime("%d %b %H:%M" if there.year == here.year else "%d %b %Y %H:%M")

    def both(self, time_ms: int | None) -> str | None:
        """Return local and relative time: `14:03:00 (in 4m)`; None stays None."""
        if time_ms is None:
            return None
        return f"{self.short(time_ms)} ({relative(time_ms, self.now_ms)})"

    def both_of(self, text: str | None) -> str | None:
        """Like `both`, of an RFC 3339 text."""
        return None if text is None else self.both(epoch_ms(text))


def epoch_ms(text: str) -> int:
    """Return the epoch milliseconds of an RFC 3339 time with an offset."""
    there = datetime.fromisoformat(text)
    return round(there.timestamp() * 1000)


def rfc3339(time_ms: int) -> str:
    """Return a time as RFC 3339 in UTC, with milliseconds where there are any."""
    there = datetime.fromtimestamp(time_ms / 1000, UTC)
    spec = "milliseconds" if time_ms % 1000 else "seconds"
    return there.isoformat(timespec=spec).replace("+00:00", "Z")
