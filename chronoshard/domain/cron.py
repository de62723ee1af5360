"""Cron fields: what the library parses, and which civil times they match.

The fields are croniter's; which instants of a zone they lead to is ours (see `schedule`). Civil times are seconds
since 1970-01-01T00:00 on the calendar on the wall, whatever the zone.
"""

from __future__ import annotations

import calendar
import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import cast

from croniter import croniter
from croniter.croniter import CroniterError, HashExpander

from chronoshard.errors import InvalidInput

MAX_LENGTH = 256
FIELDS = ("minute", "hour", "day-of-month", "month", "day-of-week")
ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
LAST = "l"
_SIZES = (60, 24, 31, 12, 7, 60)  # of the fields in the library's order, in which the seconds come last
_RANGES = ("0 to 59", "0 to 23", "1 to 31, L", "1 to 12, JAN to DEC", "0 to 7, SUN to SAT, L5, 5#2", "0 to 59")
_RANDOM = re.compile(r"(?<![A-Za-z])[Rr](?![A-Za-z])")
_STEP = re.compile(r"/(\d+)")
_ONE_LONG = re.compile(r"\b(\w+)-\1\b", re.IGNORECASE)  # the library reads 9-9 as all hours, cron as one
_REFUSALS = (CroniterError, ValueError, KeyError, IndexError, TypeError)  # its own, and what escapes it
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3_600, 86_400


@dataclass(frozen=True, slots=True, eq=False)
class Fields:
    """What a cron expression matches: ascending numbers, and rules for the date.

    `days` and `weekdays` None: any; Sunday is 0. `last_day`: the month's last; `nearest_weekday`: the working day
    nearest to that day, within the month; `nth`: which of a month's Fridays, and so on. `every_hour`: the hour
    field has `*` or a step, so that the job means real instants rather than times of the day.
    """

    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int] | None
    last_day: bool
    nearest_weekday: int | None
    months: frozenset[int]
    weekdays: frozenset[int] | None
    nth: Mapping[int, frozenset[int | str]]
    every_hour: bool

    def matches_date(self, day: date) -> bool:
        """Say whether a date matches; a restricted day of month and a restricted weekday are alternatives."""
        if day.month not in self.months:
            return False
        if self.days is None:
            return self.weekdays is None or self._matches_weekday(day)
        return self._matches_day(day, self.days) or (self.weekdays is not None and self._matches_weekday(day))

    def _matches_day(self, day: date, days: frozenset[int]) -> bool:
        length = calendar.monthrange(day.year, day.month)[1]
        if self.nearest_weekday is not None:
            return day.day == _nearest_weekday(day.year, day.month, min(self.nearest_weekday, length))
        return day.day in days or (self.last_day and day.day == length)

    def _matches_weekday(self, day: date) -> bool:
        weekday = day.isoweekday() % 7
        if self.weekdays is None or weekday not in self.weekdays:
            return False
        wanted = self.nth.get(weekday)
        if wanted is None:
            return True
        is_last = day.day + 7 > calendar.monthrange(day.year, day.month)[1]
        return (day.day + 6) // 7 in wanted or (LAST in wanted and is_last)


def civil_times(fields: Fields, low_s: int, high_s: int, *, backwards: bool = False) -> Iterator[int]:
    """Yield the civil times in [low, high) that match, ascending or descending."""
    order = slice(None, None, -1) if backwards else slice(None)
    for month_s, days in _months(fields, low_s, high_s, backwards=backwards):
        for day in _within(days, month_s, _DAY_S, low_s, high_s)[order]:
            day_s = month_s + day * _DAY_S
            for hour in _within(fields.hours, day_s, _HOUR_S, low_s, high_s)[order]:
                hour_s = day_s + hour * _HOUR_S
                for minute in _within(fields.minutes, hour_s, _MINUTE_S, low_s, high_s)[order]:
                    minute_s = hour_s + minute * _MINUTE_S
                    for second in _within(fields.seconds, minute_s, 1, low_s, high_s)[order]:
                        yield minute_s + second


def _months(fields: Fields, low_s: int, high_s: int, *, backwards: bool) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield each month that may match: the civil time at which it begins, and its matching days, from 0."""
    first, last = (date.fromordinal(_EPOCH_DAY + time_s // _DAY_S) for time_s in (low_s, high_s - 1))
    months = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
    for number in reversed(months) if backwards else months:
        year, month = number // 12, number % 12 + 1
        if month in fields.months:
            yield (date(year, month, 1).toordinal() - _EPOCH_DAY) * _DAY_S, _days_of(fields, year, month)


@lru_cache(maxsize=8192)
def _days_of(fields: Fields, year: int, month: int) -> tuple[int, ...]:
    length = calendar.monthrange(year, month)[1]
    return tuple(day for day in range(length) if fields.matches_date(date(year, month, day + 1)))


def _within(values: tuple[int, ...], base_s: int, unit_s: int, low_s: int, high_s: int) -> tuple[int, ...]:
    """Return the values whose unit of time, counted from `base_s`, reaches into [low, high)."""
    return values[
        bisect_left(values, (low_s - base_s) // unit_s) : bisect_right(values, (high_s - 1 - base_s) // unit_s)
    ]


def _nearest_weekday(year: int, month: int, day: int) -> int:
    """Return the Monday to Friday that is nearest to a day and in the same month."""
    weekday = date(year, month, day).isoweekday()
    if weekday == 6:
        return day - 1 if day > 1 else day + 2
    if weekday == 7:
        return day + 1 if day < calendar.monthrange(year, month)[1] else day - 2
    return day


@lru_cache(maxsize=4096)
def parse(schedule: str) -> Fields:
    """Return what an expression matches: 5 fields, or 6 with the seconds first, or an alias like @daily.

    Raises InvalidInput with the code cron.length, cron.fields, cron.random, cron.syntax, cron.range.
    """
    parts = _parts(schedule)
    read = _read(schedule, parts)
    expanded = cast("list[list[int | str]]", read.expanded)
    minutes, hours, days, months, weekdays = expanded[:5]
    nth = cast("dict[int, set[int | str]]", read.nth_weekday_of_month)
    if nth and set(nth) != set(_numbers(weekdays, 7)):  # it would ignore the others
        raise _bad_field(schedule, "day-of-week", 4, parts[-1])
    return Fields(
        seconds=_numbers(expanded[5], 60) if len(parts) == 6 else (0,),
        minutes=_numbers(minutes, 60),
        hours=_numbers(hours, 24),
        days=None if "*" in days else frozenset(day for day in days if isinstance(day, int)),
        last_day=LAST in days,
        nearest_weekday=next(iter(read.nearest_weekday), None),
        months=frozenset(_numbers(months, 12, first=1)),
        weekdays=None if "*" in weekdays and not nth else frozenset(_numbers(weekdays, 7)),
        nth={weekday: frozenset(which) for weekday, which in nth.items()},
        every_hour="*" in parts[-4] or "/" in parts[-4] or "*" in hours,
    )


def expanded_for(schedule: str, job_id: str) -> str:
    """Return the expression as it is kept, every H replaced by what the job's id always makes of it."""
    if schedule.strip().startswith("@"):
        _parts(schedule)
        return schedule.strip().lower()
    parts = _parts(schedule)
    expander = HashExpander(croniter)  # type: ignore[arg-type]  # it wants the class, as croniter itself passes it
    kept = []
    for part, (name, index) in zip(parts, _order(parts), strict=True):
        # the field is hashed with the job: minute, hour and day must not follow from each other
        seed = hashlib.blake2b(f"{job_id}/{name}".encode(), digest_size=8).digest()
        try:
            kept.append(expander.expand("", index, part.lower(), hash_id=seed) if part[0] in "Hh" else part)
        except CroniterError:
            raise _bad_field(schedule, name, index, part) from None
    return " ".join(kept)


def _parts(schedule: str) -> list[str]:
    if len(schedule) > MAX_LENGTH:
        raise _invalid(
            schedule, "cron.length", f"is longer than {MAX_LENGTH} characters", "split it into several jobs"
        )
    text = schedule.strip()
    if text.startswith("@"):
        if text.lower() not in ALIASES:
            known = ", ".join(ALIASES)
            raise _invalid(schedule, "cron.fields", "is no alias known here", f"use {known}, or 5 fields")
        text = ALIASES[text.lower()]
    parts = text.split()
    if len(parts) not in (5, 6):
        plural = "field" if len(parts) == 1 else "fields"
        needed = f"needs 5 ({' '.join(FIELDS)}) or 6 with seconds first"
        raise _invalid(schedule, "cron.fields", f"has {len(parts)} {plural}, {needed}")
    if any(_RANDOM.search(part) for part in parts):
        what = "asks for a random time, which would differ between machines"
        raise _invalid(schedule, "cron.random", what, "use H: spread by the job's id, and always the same")
    return parts


def _order(parts: list[str]) -> list[tuple[str, int]]:
    """Return the name of each field and its place in the library's order."""
    named = [(name, index) for index, name in enumerate(FIELDS)]
    return [("second", 5), *named] if len(parts) == 6 else named


def _read(schedule: str, parts: list[str]) -> croniter[float]:
    """Let the library read the fields; raise InvalidInput that names the one which it refuses."""
    for part, (name, index) in zip(parts, _order(parts), strict=True):
        for step in _STEP.findall(part):
            if int(step) > _SIZES[index]:
                what = f"has a step of {step} in the {name}, which has only {_SIZES[index]} values"
                raise _invalid(schedule, "cron.range", what, "use an interval for longer steps")
        if doubtful := _ONE_LONG.search(part):
            what = f"has the range {doubtful[0]} in the {name}, which some read as one value and some as all"
            raise _invalid(schedule, "cron.range", what, f"write {doubtful[1]}, or *")
    try:
        return _library(parts)
    except _REFUSALS:
        raise _bad_field(schedule, *_culprit(parts)) from None


def _culprit(parts: list[str]) -> tuple[str, int, str]:
    """Return the field that is refused also between stars: its name, its place and its text."""
    refused = []
    for place, (part, (name, index)) in enumerate(zip(parts, _order(parts), strict=True)):
        try:
            _library([*["*"] * place, part, *["*"] * (len(parts) - place - 1)])
        except _REFUSALS:
            refused.append((name, index, part))
    return refused[0]


def _library(parts: list[str]) -> croniter[float]:
    return croniter(" ".join(parts), 0.0, second_at_beginning=True)


def _numbers(values: list[int | str], count: int, *, first: int = 0) -> tuple[int, ...]:
    if "*" in values:
        return tuple(range(first, first + count))
    return tuple(sorted(int(value) for value in values))


def _bad_field(schedule: str, name: str, index: int, part: str) -> InvalidInput:
    code = "cron.range" if re.fullmatch(r"[0-9*/,-]+", part) else "cron.syntax"
    what = f"has {part[:40]!r} as its {name}, which cannot be"
    return _invalid(schedule, code, what, f"the {name} takes {_RANGES[index]}, with , - / between")


def _invalid(schedule: str, code: str, what: str, hint: str | None = None) -> InvalidInput:
    shown = schedule if len(schedule) <= 80 else schedule[:77] + "..."
    return InvalidInput(f'"{shown}" {what}', code=code, pointer="/trigger/schedule", hint=hint)
