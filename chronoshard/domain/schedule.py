"""Which UTC instants a cron expression means in a zone.

Worked out hour by hour in UTC, so that occurrences come out in order whatever the clocks on the wall do:
- a job whose hour field has `*` or a step runs at every real instant whose civil time matches: in a gap there are
  none, in an overlap both passes count;
- a job with fixed hours runs once a day: in an overlap the first time (or the last, or both), and in a gap once at
  the first instant after it (or not at all), however many of its times the gap swallowed.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo

import msgspec

from chronoshard.domain.cron import Fields, parse
from chronoshard.domain.timezones import HOUR_S, civil, offset_s, pass_of, transition_s, zone_of

DAY_S = 86_400
HORIZON_DAYS = 3_653  # ten years: rows are never made further ahead
CACHED_HOURS = 512  # blocks of at most 3,600 instants


class Dst(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a job with fixed hours does where its civil time does not exist, or exists twice."""

    gap: Literal["run", "skip"] = "run"
    overlap: Literal["first", "last", "both"] = "first"


def instants(schedule: str, zone: str, dst: Dst, *, after_s: int) -> Iterator[int]:
    """Yield the instants (UTC epoch seconds) after `after_s`, ascending, for ten years."""
    fields, tz = parse(schedule), zone_of(zone)
    hour = after_s - after_s % HOUR_S
    end = after_s + HORIZON_DAYS * DAY_S
    while hour <= end:
        if not _may_match(fields, tz, hour):
            hour = _hour_of_next_date(fields, tz, hour, end)
            continue
        for instant in _in_hour(schedule, zone, dst, hour):
            if instant > after_s:
                yield instant
        hour += HOUR_S


def last_instant(schedule: str, zone: str, dst: Dst, *, at_or_before_s: int, not_before_s: int) -> int | None:
    """Return the newest instant in [not_before, at_or_before]; None when there is none."""
    fields, tz = parse(schedule), zone_of(zone)
    hour = at_or_before_s - at_or_before_s % HOUR_S
    while hour + HOUR_S > not_before_s:
        if not _may_match(fields, tz, hour):
            hour = min(hour - HOUR_S, _hour_of_previous_date(fields, tz, hour, not_before_s))
            continue
        for instant in reversed(_in_hour(schedule, zone, dst, hour)):
            if instant <= at_or_before_s:
                return instant if instant >= not_before_s else None
        hour -= HOUR_S
    return None


def is_instant(schedule: str, zone: str, dst: Dst, utc_s: int) -> bool:
    """Say whether the expression means this instant."""
    return utc_s in _in_hour(schedule, zone, dst, utc_s - utc_s % HOUR_S)


@lru_cache(maxsize=CACHED_HOURS)
def _in_hour(schedule: str, zone: str, dst: Dst, hour_s: int) -> tuple[int, ...]:
    """Return the instants in [hour, hour + 1 h): those of each stretch of one offset, and what a gap swallowed."""
    fields, tz = parse(schedule), zone_of(zone)
    change = transition_s(tz, hour_s - 1, hour_s + HOUR_S - 1)
    if change is None:
        return tuple(_in_stretch(fields, tz, dst, hour_s, hour_s + HOUR_S))
    found = set(_in_stretch(fields, tz, dst, hour_s, change))
    found.update(_in_stretch(fields, tz, dst, change, hour_s + HOUR_S))
    if dst.gap == "run" and not fields.every_hour and _gap_swallows(fields, tz, change):
        found.add(change)
    return tuple(sorted(found))


def _in_stretch(fields: Fields, tz: ZoneInfo, dst: Dst, from_s: int, until_s: int) -> Iterator[int]:
    """Yield the matching instants of a stretch throughout which one offset holds."""
    if from_s >= until_s:
        return
    every_pass = fields.every_hour or dst.overlap == "both"
    unwanted = "second" if dst.overlap == "first" else "first"
    for instant in _matching(fields, from_s, until_s, offset_s(tz, from_s)):
        if every_pass or pass_of(tz, instant) != unwanted:
            yield instant


def _gap_swallows(fields: Fields, tz: ZoneInfo, change_s: int) -> bool:
    """Say whether a civil time that clocks jumped over at `change_s` matches."""
    before, after = offset_s(tz, change_s - 1), offset_s(tz, change_s)
    return any(True for _ in _matching(fields, change_s, change_s + after - before, before))


def _matching(fields: Fields, from_s: int, until_s: int, offset: int) -> Iterator[int]:
    """Yield the instants of [from, until) whose civil time under a fixed offset matches."""
    minute_s = from_s - (from_s + offset) % 60
    while minute_s < until_s:
        local = civil(minute_s, offset)
        if local.hour not in fields.hours or not fields.matches_date(local.date()):
            minute_s += 60 * (60 - local.minute)
            continue
        if local.minute in fields.minutes:
            for second in fields.seconds:
                if from_s <= minute_s + second < until_s:
                    yield minute_s + second
        minute_s += 60


def _may_match(fields: Fields, tz: ZoneInfo, hour_s: int) -> bool:
    """Say whether the date of any civil time around this hour matches: cheap, and never wrongly False."""
    first = civil(hour_s, min(offset_s(tz, hour_s - 1), offset_s(tz, hour_s))).date()
    last = civil(hour_s + HOUR_S, max(offset_s(tz, hour_s - 1), offset_s(tz, hour_s + HOUR_S))).date()
    return fields.matches_date(first) or (last != first and fields.matches_date(last))


def _hour_of_next_date(fields: Fields, tz: ZoneInfo, hour_s: int, end_s: int) -> int:
    """Return an hour shortly before the next matching date begins, always later than `hour_s`."""
    day = civil(hour_s, offset_s(tz, hour_s)).date()
    for _ in range(HORIZON_DAYS):
        day += timedelta(days=1)
        if fields.matches_date(day):
            return max(hour_s + HOUR_S, _midnight_s(day, tz) - 2 * HOUR_S)
    return end_s + 1


def _hour_of_previous_date(fields: Fields, tz: ZoneInfo, hour_s: int, not_before_s: int) -> int:
    """Return an hour shortly after the last matching date before `hour_s` ended."""
    day = civil(hour_s, offset_s(tz, hour_s)).date()
    while _midnight_s(day, tz) > not_before_s - DAY_S:
        day -= timedelta(days=1)
        if fields.matches_date(day):
            return _midnight_s(day + timedelta(days=1), tz) + 2 * HOUR_S
    return not_before_s - 2 * HOUR_S


def _midnight_s(day: date, tz: ZoneInfo) -> int:
    """Return the full hour in UTC at or before a civil midnight; DST makes it an hour or two vague."""
    utc_s = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
    midnight = utc_s - offset_s(tz, utc_s)
    return midnight - midnight % HOUR_S
