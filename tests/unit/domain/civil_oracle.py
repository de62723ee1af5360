"""When a schedule runs, by brute force: every minute of real time, shown by zoneinfo, matched against plain sets.

It shares nothing with the code under test but the policy: no parsing, no stretches, no jumps.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from chronoshard.domain.trigger import Dst

MINUTE_S = 60
ALL_DAYS = frozenset(range(1, 32))
ALL_MONTHS = frozenset(range(1, 13))


class Plain(NamedTuple):
    """An expression of five fields as text, and what it means. `days`, `weekdays` None: a star."""

    text: str
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int] | None
    months: frozenset[int]
    weekdays: frozenset[int] | None
    every_hour: bool

    def matches_date(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        alternatives = []
        if self.days is not None:
            alternatives.append(day.day in self.days)
        if self.weekdays is not None:
            alternatives.append(day.isoweekday() % 7 in self.weekdays)
        return any(alternatives) or not alternatives

    def matches(self, local: datetime) -> bool:
        return local.minute in self.minutes and local.hour in self.hours and self.matches_date(local.date())


def expected(plain: Plain, zone: ZoneInfo, dst: Dst, *, from_s: int, until_s: int) -> list[int]:
    """Return the instants in [from, until), whole minutes, in order."""
    return sorted(set(_walk(plain, zone, dst, from_s, until_s)))


def _walk(plain: Plain, zone: ZoneInfo, dst: Dst, from_s: int, until_s: int) -> Iterator[int]:
    before_s = offset_s(zone, from_s - MINUTE_S)
    for instant in range(from_s, until_s, MINUTE_S):
        now_s = offset_s(zone, instant)
        if now_s > before_s and dst.gap == "run" and not plain.every_hour:
            jumped = range(instant + before_s, instant + now_s, MINUTE_S)
            if any(plain.matches(datetime.fromtimestamp(civil_s, UTC)) for civil_s in jumped):
                yield instant
        before_s = now_s
        local = datetime.fromtimestamp(instant, zone)
        if plain.matches(local) and (plain.every_hour or _wanted(local, dst)):
            yield instant


def _wanted(local: datetime, dst: Dst) -> bool:
    twice = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
    if not twice or dst.overlap == "both":
        return True
    return local.fold == (0 if dst.overlap == "first" else 1)


def offset_s(zone: ZoneInfo, instant: int) -> int:
    offset = datetime.fromtimestamp(instant, zone).utcoffset()
    assert offset is not None
    return int(offset.total_seconds())
