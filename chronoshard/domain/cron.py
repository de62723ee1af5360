"""Cron fields: what the library parses, and which civil times they match.

The fields are croniter's; which instants of a zone they lead to is ours (see `schedule`).
"""

from __future__ import annotations

import calendar
import re
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from croniter import croniter
from croniter.croniter import CroniterError

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
_HASHED = re.compile(r"(?<![A-Za-z])[Hh](?![A-Za-z])")
_RANDOM = re.compile(r"(?<![A-Za-z])[Rr](?![A-Za-z])")
_TOP = {"hour": 23, "minute": 59, "second": 59}


class Fields(NamedTuple):
    """What a cron expression matches. `every_hour`: the hour field has `*` or a step, so the job means real
    instants rather than times of the day. `days` and `weekdays` None: any. Monday is 1, Sunday 0."""

    seconds: tuple[int, ...]
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int | str] | None
    months: frozenset[int]
    weekdays: frozenset[int] | None
    nth: tuple[tuple[int, frozenset[int | str]], ...]
    every_hour: bool

    def matches_date(self, day: date) -> bool:
        """Say whether a date matches; a restricted day of month and a restricted weekday are alternatives."""
        if day.month not in self.months:
            return False
        if self.days is None and self.weekdays is None:
            return True
        by_day = self.days is not None and self._matches_day(day)
        by_weekday = self.weekdays is not None and self._matches_weekday(day)
        return by_day or by_weekday

    def _matches_day(self, day: date) -> bool:
        assert self.days is not None
        if day.day in self.days:
            return True
        return LAST in self.days and day.day == calendar.monthrange(day.year, day.month)[1]

    def _matches_weekday(self, day: date) -> bool:
        assert self.weekdays is not None
        weekday = day.isoweekday() % 7
        if weekday not in self.weekdays:
            return False
        wanted = dict(self.nth).get(weekday)
        if wanted is None:
            return True
        is_last = day.day + 7 > calendar.monthrange(day.year, day.month)[1]
        return (day.day + 6) // 7 in wanted or (LAST in wanted and is_last)


@lru_cache(maxsize=4096)
def parse(schedule: str) -> Fields:
    """Return what an expression matches: 5 fields, or 6 with the seconds first, or an alias like @daily.

    Raises InvalidInput with the code cron.length, cron.fields, cron.random, cron.range.
    """
    parts = _parts(schedule)
    if any(_RANDOM.search(part) for part in parts):
        raise _invalid(schedule, "cron.random", "R is random and would differ between machines", "use H instead")
    expanded, nth = _expand(schedule, parts)
    seconds: list[int | str] = expanded[5] if len(parts) == 6 else [0]
    hour_text = parts[-4]
    return Fields(
        seconds=tuple(sorted(_all(seconds, 60))),
        minutes=_all(expanded[0], 60),
        hours=_all(expanded[1], 24),
        days=None if "*" in expanded[2] else frozenset(expanded[2]),
        months=_all(expanded[3], 12, first=1),
        weekdays=None if "*" in expanded[4] else frozenset(int(day) for day in expanded[4]),
        nth=tuple((weekday, frozenset(which)) for weekday, which in sorted(nth.items())),
        every_hour="*" in hour_text or "/" in hour_text or "*" in expanded[1],
    )


def expand_hashed(schedule: str, job_id: str) -> str:
    """Return the expression with every H replaced by what the job's id makes of it, for ever the same."""
    parts = _parts(schedule)
    if not any(_HASHED.search(part) for part in parts):
        return schedule
    expanded, _ = _expand(schedule, parts, hash_id=job_id)
    values = [expanded[5], *expanded[:5]] if len(parts) == 6 else expanded
    return " ".join(
        _rendered(part, value) if _HASHED.search(part) else part for part, value in zip(parts, values, strict=True)
    )


def _rendered(part: str, values: list[int | str]) -> str:
    """A step stays a step: it tells that the job means real instants."""
    _, slash, step = part.partition("/")
    if slash and len(values) > 1:
        return f"{values[0]}-{values[-1]}/{step}"
    return ",".join(map(str, values))


def _parts(schedule: str) -> list[str]:
    if len(schedule) > MAX_LENGTH:
        raise _invalid(
            schedule, "cron.length", f"is longer than {MAX_LENGTH} characters", "split it into several jobs"
        )
    text = schedule.strip()
    if text.startswith("@"):
        if text.lower() not in ALIASES:
            raise _invalid(
                schedule, "cron.fields", "is no alias known here", f"use {', '.join(ALIASES)}, or 5 fields"
            )
        text = ALIASES[text.lower()]
    parts = text.split()
    if len(parts) not in (5, 6):
        plural = "field" if len(parts) == 1 else "fields"
        raise _invalid(
            schedule,
            "cron.fields",
            f"has {len(parts)} {plural}, needs 5 ({' '.join(FIELDS)}) or 6 with seconds first",
        )
    return parts


def _expand(
    schedule: str, parts: list[str], hash_id: str | None = None
) -> tuple[list[list[int | str]], dict[int, set[int | str]]]:
    """Let the library read the fields; the seconds come last in its answer."""
    try:
        expanded, nth = croniter.expand(
            " ".join(parts), hash_id=(hash_id or "0").encode(), second_at_beginning=len(parts) == 6
        )
    except (CroniterError, ValueError, KeyError, IndexError, TypeError) as error:
        reason = str(error).rpartition("] ")[2] or "cannot be read"
        raise _invalid(schedule, "cron.range", reason, "see the ranges: 0-59, 0-23, 1-31, 1-12, 0-7") from None
    return expanded, nth  # type: ignore[return-value]


def _all(values: list[int | str], count: int, *, first: int = 0) -> frozenset[int]:
    if "*" in values:
        return frozenset(range(first, first + count))
    return frozenset(int(value) for value in values)


def _invalid(schedule: str, code: str, what: str, hint: str | None = None) -> InvalidInput:
    shown = schedule if len(schedule) <= 80 else schedule[:77] + "..."
    return InvalidInput(f'"{shown}" {what}', code=code, pointer="/trigger/schedule", hint=hint)
