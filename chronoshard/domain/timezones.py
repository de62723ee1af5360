"""From UTC to civil time and back, where clocks go forward and back.

Real time comes in stretches of one offset, in order and never doubtful; what is doubtful is the civil time that a
clock on the wall shows: a time in a gap is never shown, a time in an overlap is shown twice. Zones come from the
packaged tz database alone, so that machines whose systems differ agree on every instant (invariant 2).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

import tzdata

from chronoshard.errors import InvalidInput

HOUR_S = 3_600
DAY_S = 86_400
MIN_S = 0  # 1970
MAX_S = 253_370_764_800  # the year 9999: the calendar ends there
_NAME_LENGTH = 80

Overlap = Literal["first", "last", "both"]
Pass = Literal["only", "first", "second"]


class Change(NamedTuple):
    """From `at_s` on, civil time is `after_s` ahead of UTC; until then it was `before_s`."""

    at_s: int
    before_s: int
    after_s: int

    @property
    def gap_s(self) -> int:
        """How much civil time is jumped over."""
        return max(0, self.after_s - self.before_s)

    @property
    def overlap_s(self) -> int:
        """How much civil time is shown twice."""
        return max(0, self.before_s - self.after_s)


class Stretch(NamedTuple):
    """Real time [start, end) throughout which one offset holds. `gap_s`: civil time jumped over at its start."""

    start_s: int
    end_s: int
    offset_s: int
    gap_s: int = 0


@lru_cache(maxsize=1024)
def zone_of(name: str) -> ZoneInfo:
    """Return a zone of the tz database; raise InvalidInput with the names that come close."""
    if name not in _names():
        by_lower = {known.lower(): known for known in _names()}
        close = difflib.get_close_matches(name[:_NAME_LENGTH].lower(), by_lower, n=3)
        hint = f"did you mean {' or '.join(by_lower[key] for key in close)}?" if close else None
        raise InvalidInput(
            f"unknown time zone {name[:_NAME_LENGTH]!r}",
            code="zone.unknown",
            pointer="/trigger/zone",
            hint=hint or "use a name like Europe/Berlin, or UTC",
        )
    with files(tzdata).joinpath("zoneinfo", *name.split("/")).open("rb") as data:
        return ZoneInfo.from_file(data, key=name)


def tzdata_version() -> str:
    """Return the version of the packaged tz database, such as 2026a."""
    return str(tzdata.IANA_VERSION)


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    return frozenset(files(tzdata).joinpath("zones").read_text().split())


def stretches(
    zone: str, overlap: Overlap, from_s: int, until_s: int, *, backwards: bool = False
) -> Iterator[Stretch]:
    """Yield the stretches that reach into [from, until), in order or backwards, uncut but at the turn of a year.

    What `overlap` does not want is left out: the second pass (first), or the first one (last).
    """
    from_s, until_s = max(from_s, MIN_S), min(until_s, MAX_S)
    if from_s >= until_s:
        return
    years = range(_year_of(from_s), _year_of(until_s - 1) + 1)
    for year in reversed(years) if backwards else years:
        found = _stretches_of(zone, overlap, year)
        for stretch in reversed(found) if backwards else found:
            if stretch.start_s < until_s and stretch.end_s > from_s:
                yield stretch


@lru_cache(maxsize=8192)
def _stretches_of(zone: str, overlap: Overlap, year: int) -> tuple[Stretch, ...]:
    year_start_s, year_end_s = _start_s(year), _start_s(year + 1)
    changes = _changes_of(zone, year)
    first_s = changes[0].before_s if changes else _offset_s(zone_of(zone), year_start_s)
    opening = Change(year_start_s - 2 * DAY_S, first_s, first_s)
    closing = Change(year_end_s + 2 * DAY_S, 0, 0)
    found = []
    for change, following in zip((opening, *changes), (*changes, closing), strict=True):
        begins_s = change.at_s + (change.overlap_s if overlap == "first" else 0)
        ends_s = following.at_s - (following.overlap_s if overlap == "last" and following is not closing else 0)
        start_s, end_s = max(begins_s, year_start_s), min(ends_s, year_end_s)
        if start_s < end_s:
            gap_s = change.gap_s if start_s == change.at_s else 0
            found.append(Stretch(start_s, end_s, change.after_s, gap_s))
    return tuple(found)


@lru_cache(maxsize=8192)
def _changes_of(zone: str, year: int) -> tuple[Change, ...]:
    """Return the changes of a zone in a UTC year, and in the days around it: an overlap may reach in."""
    tz = zone_of(zone)
    found = []
    day_s = _start_s(year) - DAY_S
    before_s = _offset_s(tz, day_s)
    while day_s < _start_s(year + 1) + DAY_S:
        after_s = _offset_s(tz, day_s + DAY_S)
        if after_s != before_s:
            found.append(Change(_first_s(tz, day_s, day_s + DAY_S, after_s), before_s, after_s))
        day_s, before_s = day_s + DAY_S, after_s
    return tuple(found)


def _first_s(tz: ZoneInfo, low_s: int, high_s: int, offset_s: int) -> int:
    """Return the first instant in (low, high] at which `offset_s` holds, by halving."""
    while high_s - low_s > 1:
        middle_s = (low_s + high_s) // 2
        if _offset_s(tz, middle_s) == offset_s:
            high_s = middle_s
        else:
            low_s = middle_s
    return high_s


def pass_of(zone: str, utc_s: int) -> Pass:
    """Say whether the civil time shown at an instant is shown once, or which of two times this is."""
    for change in _changes_of(zone, _year_of(utc_s)):
        if 0 <= utc_s - change.at_s < change.overlap_s:
            return "second"
        if 0 < change.at_s - utc_s <= change.overlap_s:
            return "first"
    return "only"


def _offset_s(tz: ZoneInfo, utc_s: int) -> int:
    offset = datetime.fromtimestamp(utc_s, tz).utcoffset()
    assert offset is not None
    return int(offset.total_seconds())


def _year_of(utc_s: int) -> int:
    return datetime.fromtimestamp(utc_s, UTC).year


def _start_s(year: int) -> int:
    return int(datetime(year, 1, 1, tzinfo=UTC).timestamp())
