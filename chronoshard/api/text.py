"""Times and durations as people write them: RFC 3339 in UTC, seconds or `1h30m`. Inside they are milliseconds."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

MAX_MS = 10 * 366 * 86_400_000  # no duration is longer than rows are made ahead
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)")
_DURATION = re.compile(r"(?:(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h|d))", re.ASCII)
_UNITS_MS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_SHOWN = ("h", "m", "s")


def rfc3339(time_ms: int) -> str:
    """Return a time as RFC 3339 in UTC, with milliseconds where it has any."""
    seconds, rest_ms = divmod(time_ms, 1000)
    text = datetime.fromtimestamp(seconds, UTC).isoformat()[:19]
    return f"{text}.{rest_ms:03d}Z" if rest_ms else f"{text}Z"


def optional_rfc3339(time_ms: int | None) -> str | None:
    return None if time_ms is None else rfc3339(time_ms)


def parse_time(text: str) -> int:
    """Return UTC epoch milliseconds; raise ValueError with what is wrong."""
    if _TIME.fullmatch(text) is None:
        raise ValueError("a time is RFC 3339 with an offset, such as 2027-03-01T09:00:00Z")
    try:
        moment = datetime.fromisoformat(text.upper().replace("Z", "+00:00"))
        since = moment.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError("there is no such time") from error
    time_ms = (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000
    if time_ms < 0:
        raise ValueError("times before 1970 have passed")
    return time_ms


def parse_duration(value: object) -> int:
    """Return milliseconds of seconds (a number) or of `90s`, `5m`, `1h30m`; raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("a duration is a number of seconds or a text such as 90s, 5m, 1h30m")
    length_ms = _written(value) if isinstance(value, str) else value * 1000
    if not math.isfinite(length_ms) or not 0 <= length_ms <= MAX_MS:
        raise ValueError("a duration is not negative and at most ten years")
    return round(length_ms)


def duration(length_ms: int) -> str:
    """Return a duration as text that parse_duration reads back: `1h30m`, `90ms`."""
    if length_ms % 1000:
        return f"{length_ms}ms"
    parts = []
    for unit in _SHOWN:
        count, length_ms = divmod(length_ms, _UNITS_MS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def _written(text: str) -> float:
    found = _DURATION.findall(text)
    if not found or "".join(number + unit for number, unit in found) != text or len(text) > 40:
        raise ValueError("a duration is a number of seconds or a text such as 90s, 5m, 1h30m")
    return sum(float(number) * _UNITS_MS[unit] for number, unit in found)
