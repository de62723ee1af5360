"""Texts that people type, as values: durations, times, `K=V`. Every refusal names the option and the way out."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from chronoshard.cli.words import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from chronoshard.errors import InvalidInput

_UNIT_MS = {"ms": 1, "s": SECOND_MS, "m": MINUTE_MS, "h": HOUR_MS, "d": DAY_MS}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_DURATION = re.compile(rf"(?:{_PART.pattern})+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def parse_duration(text: str, option: str) -> int:
    """Return the milliseconds of `90s`, `5m`, `1h30m`, `2d`, or of a number of seconds."""
    if _NUMBER.fullmatch(text):
        return round(float(text) * SECOND_MS)
    if not _DURATION.fullmatch(text):
        raise InvalidInput(
            f"{text!r} is not a duration",
            code="duration.form",
            pointer=option,
            hint="write a number of seconds, or units as in 90s, 5m, 1h30m, 2d",
        )
    return round(sum(float(number) * _UNIT_MS[unit] for number, unit in _PART.findall(text)))


def parse_zone(name: str, option: str = "--zone") -> ZoneInfo:
    """Return the IANA zone of this name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput(
            f"there is no time zone {name!r}", code="zone.unknown", pointer=option, hint=_similar_zones(name)
        ) from error


def parse_time(text: str, option: str, *, now_ms: int, zone: str | None = None) -> int:
    """Return the epoch milliseconds of RFC 3339, of a local time in `zone`, or of `+10m` from now.

    Without a zone a local time is the machine's.
    """
    if text.startswith("+"):
        return now_ms + parse_duration(text[1:], option)
    try:
        given = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidInput(
            f"{text!r} is not a time",
            code="time.form",
            pointer=option,
            hint="write 2027-03-01T09:00:00Z, a local time as 2027-03-01T09:00, or +10m from now",
        ) from error
    if given.tzinfo is not None:
        return round(given.timestamp() * 1000)
    return _local_ms(given, parse_zone(zone) if zone else None, option)


def _local_ms(wall: datetime, zone: tzinfo | None, option: str) -> int:
    """Return the first instant at which clocks in `zone` show `wall`; refuse what they never show."""
    there = wall.replace(tzinfo=zone) if zone is not None else wall.astimezone()
    time_ms = round(there.timestamp() * 1000)
    shown = datetime.fromtimestamp(time_ms / 1000, UTC).astimezone(zone).replace(tzinfo=None)
    if shown != wall:
        raise InvalidInput(
            f"clocks there never show {wall.isoformat(sep=' ')}: they go forward over it",
            code="time.gap",
            pointer=option,
            hint=f"write {shown.isoformat(sep=' ')}, or a time with an offset",
        )
    return time_ms


def parse_pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    """Return the `K=V` texts as a dict; a key given twice is refused."""
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InvalidInput(
                f"{text!r} is not of the form K=V",
                code="usage.pair",
                pointer=option,
                hint=f"write {option} {key or 'key'}=value",
            )
        if key in found:
            raise InvalidInput(f"{key!r} is given twice", code="usage.twice", pointer=option)
        found[key] = value
    return found


def parse_params(texts: Sequence[str], option: str = "--param") -> dict[str, object]:
    """Return the params that `K=V` texts say: V as JSON where it is JSON, otherwise as it is."""
    return {key: json_or_text(value) for key, value in parse_pairs(texts, option).items()}


def json_or_text(text: str) -> object:
    try:
        return json.loads(text, parse_constant=_finite, parse_float=_finite)
    except ValueError:
        return text


def _finite(text: str) -> float:
    """Refuse what JSON has no number for: NaN, Infinity, 1e999."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not JSON")
    return number


def _similar_zones(name: str) -> str:
    import difflib
    from zoneinfo import available_timezones

    zones = sorted(available_timezones())
    by_lower = {zone.lower(): zone for zone in zones}
    places = {zone.rpartition("/")[2].lower(): zone for zone in zones}
    wanted = name.lower().replace(" ", "_")
    near = difflib.get_close_matches(wanted, [*by_lower, *places], n=1, cutoff=0.7)
    if near:
        return f"did you mean {by_lower.get(near[0]) or places[near[0]]}?"
    return "write an IANA name such as Europe/Berlin or UTC"
