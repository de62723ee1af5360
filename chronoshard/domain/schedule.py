"""Which UTC instants a cron expression means in a zone.

Worked out stretch by stretch of one offset, so that instants come out in order whatever the clocks on the wall do:
- a job whose hour field has `*` or a step runs at every real instant whose civil time matches: in a gap there are
  none, in an overlap both passes count;
- a job with fixed hours runs once a day: in an overlap the first time (or the last, or both), and in a gap once at
  the first instant after it (or not at all), however many of its times the gap swallowed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

import msgspec

from chronoshard.domain.cron import Fields, civil_times, parse
from chronoshard.domain.timezones import DAY_S, Stretch, stretches

HORIZON_DAYS = 3_653  # ten years: rows are never made further ahead
MEMOISED = 8_192  # answers, shared by all jobs with the same expression


class Dst(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a job with fixed hours does where its civil time does not exist, or exists twice."""

    gap: Literal["run", "skip"] = "run"
    overlap: Literal["first", "last", "both"] = "first"


def instants(schedule: str, zone: str, dst: Dst, *, after_s: int) -> Iterator[int]:
    """Yield the instants (UTC epoch seconds) after `after_s`, ascending, for ten years."""
    return _between(schedule, zone, dst, after_s + 1, after_s + HORIZON_DAYS * DAY_S + 1)


def last_instant(schedule: str, zone: str, dst: Dst, *, at_or_before_s: int, not_before_s: int) -> int | None:
    """Return the newest instant in [not_before, at_or_before]; None when there is none."""
    return next(_between(schedule, zone, dst, not_before_s, at_or_before_s + 1, backwards=True), None)


@lru_cache(maxsize=MEMOISED)
def is_instant(schedule: str, zone: str, dst: Dst, utc_s: int) -> bool:
    """Say whether the expression means this instant."""
    return next(_between(schedule, zone, dst, utc_s, utc_s + 1), None) is not None


def swallowed(fields: Fields, stretch: Stretch) -> Iterator[int]:
    """Yield the civil times that match and that the clocks jumped over at the start of a stretch."""
    if stretch.gap_s > 0 and not fields.every_hour:
        start_s = stretch.start_s + stretch.offset_s
        yield from civil_times(fields, start_s - stretch.gap_s, start_s)


def _between(
    schedule: str, zone: str, dst: Dst, from_s: int, until_s: int, *, backwards: bool = False
) -> Iterator[int]:
    """Yield the instants in [from, until), ascending or descending."""
    fields = parse(schedule)
    overlap = "both" if fields.every_hour else dst.overlap
    for stretch in stretches(zone, overlap, from_s, until_s, backwards=backwards):
        start_s, end_s = max(stretch.start_s, from_s), min(stretch.end_s, until_s)
        # what does not exist runs when the clocks have jumped: once, also when that instant matches itself
        late_s = None
        if dst.gap == "run" and start_s == stretch.start_s and any(True for _ in swallowed(fields, stretch)):
            late_s = start_s
        if late_s is not None and not backwards:
            yield late_s
        offset_s = stretch.offset_s
        for civil_s in civil_times(fields, start_s + offset_s, end_s + offset_s, backwards=backwards):
            if civil_s - offset_s != late_s:
                yield civil_s - offset_s
        if late_s is not None and backwards:
            yield late_s
