"""From UTC to civil time and back, where clocks go forward and back.

Everything here starts from UTC instants, which are in order and never doubtful; what is doubtful is the civil time
that a clock on the wall shows then: times in a gap are never shown, times in an overlap are shown twice.
"""

from __future__ import annotations

import difflib
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo, available_timezones

import tzdata

from chronoshard.errors import InvalidInput

HOUR_S = 3_600

Pass = Literal["only", "first", "second"]


@lru_cache(maxsize=1024)
def zone_of(name: str) -> ZoneInfo:
    """Return a zone of the tz database; raise InvalidInput with the names that come close."""
    if name not in _names():
        close = difflib.get_close_matches(name, _names(), n=3, cutoff=0.6)
        hint = f"did you mean {' or '.join(close)}?" if close else "use a name like Europe/Berlin, or UTC"
        raise InvalidInput(
            f"unknown time zone {name[:80]!r}", code="zone.unknown", pointer="/trigger/zone", hint=hint
        )
    return ZoneInfo(name)


def tzdata_version() -> str:
    """Return the version of the packaged tz database, such as 2026a. A system's own one takes precedence."""
    return str(tzdata.IANA_VERSION)


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    return frozenset(available_timezones())


def offset_s(zone: ZoneInfo, utc_s: int) -> int:
    """Return by how many seconds civil time is ahead of UTC at an instant."""
    return int(_offset(datetime.fromtimestamp(utc_s, zone)).total_seconds())


def pass_of(zone: ZoneInfo, utc_s: int) -> Pass:
    """Say whether the civil time shown at an instant is shown once, or which of two times this is."""
    local = datetime.fromtimestamp(utc_s, zone)
    if local.fold:
        return "second"
    return "first" if _offset(local.replace(fold=1)) < _offset(local) else "only"


def transition_s(zone: ZoneInfo, from_s: int, until_s: int) -> int | None:
    """Return the instant in (from, until] from which another offset holds; at most one is expected."""
    old = offset_s(zone, from_s)
    if offset_s(zone, until_s) == old:
        return None
    low, high = from_s, until_s  # the offset at low is the old one, at high the new one
    while high - low > 1:
        middle = (low + high) // 2
        if offset_s(zone, middle) == old:
            low = middle
        else:
            high = middle
    return high


def civil(utc_s: int, offset: int) -> datetime:
    """Return the civil time shown at an instant under an offset, as a naive datetime."""
    return datetime.fromtimestamp(utc_s + offset, UTC).replace(tzinfo=None)


def _offset(local: datetime) -> timedelta:
    offset = local.utcoffset()
    assert offset is not None
    return offset
