"""A schedule in words, and notes where daylight saving shifts a run."""

from __future__ import annotations

from datetime import UTC, datetime

from chronoshard.domain.cron import ALIASES, Fields, parse
from chronoshard.domain.schedule import Dst, swallowed
from chronoshard.domain.timezones import pass_of, stretches
from chronoshard.domain.trigger import Cron, Interval, Manual, Now, Once, Trigger

_UNITS = (("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000), ("second", 1_000), ("millisecond", 1))


def describe(trigger: Trigger) -> str:
    """Return what the trigger means, in English."""
    match trigger:
        case Cron(schedule=schedule, zone=zone):
            return f"{_words(schedule)} ({zone}){_limits(trigger)}"
        case Interval(every_ms=every_ms):
            return f"Every {_duration(every_ms)}{_limits(trigger)}"
        case Once(at_ms=at_ms):
            return f"Once, at {_utc(at_ms)}"
        case Now():
            return "Once, at once"
        case Manual():  # pragma: no branch (there is no other kind)
            return "Only when asked"


def annotated(trigger: Trigger, nominal_ms: int, dst: Dst) -> str | None:
    """Return what daylight saving does to this occurrence; None: nothing."""
    if not isinstance(trigger, Cron):
        return None
    fields, instant_s = parse(trigger.schedule), nominal_ms // 1000
    here = next(stretches(trigger.zone, "both", instant_s, instant_s + 1))
    local = _civil(instant_s + here.offset_s)
    if instant_s == here.start_s:
        missing = list(swallowed(fields, here))
        if missing:
            return _late(missing, local, fields)
    which = pass_of(trigger.zone, instant_s)
    if which == "only":
        return None
    twice = f"{_clock(local, fields)} happens twice on {local:%Y-%m-%d} (clocks go back): "
    if fields.every_hour or dst.overlap == "both":
        return f"{twice}this is the {which} time"
    return f"{twice}runs the {which} time only"


def _late(missing: list[int], local: datetime, fields: Fields) -> str:
    first, last = _clock(_civil(missing[0]), fields), _clock(_civil(missing[-1]), fields)
    subject = f"{first} does" if len(missing) == 1 else f"{first} to {last} do"
    runs = "runs" if len(missing) == 1 else "runs once"
    return f"{subject} not exist on {local:%Y-%m-%d} (clocks go forward), {runs} at {_clock(local, fields)}"


def _words(schedule: str) -> str:
    from cron_descriptor import ExpressionDescriptor, Options  # late: the parts that only decide never need it

    options = Options(locale_code="en_US", use_24hour_time_format=True)  # the same on every machine
    return str(ExpressionDescriptor(ALIASES.get(schedule.strip().lower(), schedule), options))


def _limits(trigger: Cron | Interval) -> str:
    said = []
    if trigger.starts_at_ms is not None:
        said.append(f"from {_utc(trigger.starts_at_ms)}")
    if trigger.ends_at_ms is not None:
        said.append(f"until {_utc(trigger.ends_at_ms)}")
    if trigger.max_runs is not None:
        said.append(f"{trigger.max_runs} times at most")
    if trigger.jitter_ms:
        said.append(f"up to {_duration(trigger.jitter_ms)} later")
    return "".join(f", {words}" for words in said)


def _duration(duration_ms: int) -> str:
    words = []
    for unit, unit_ms in _UNITS:
        count, duration_ms = divmod(duration_ms, unit_ms)
        if count:
            words.append(f"{count} {unit}{'s' if count > 1 else ''}")
    return " ".join(words)


def _utc(time_ms: int) -> str:
    return f"{_civil(time_ms // 1000):%Y-%m-%d %H:%M:%S} UTC"


def _clock(local: datetime, fields: Fields) -> str:
    return f"{local:%H:%M}" if fields.seconds == (0,) else f"{local:%H:%M:%S}"


def _civil(civil_s: int) -> datetime:
    return datetime.fromtimestamp(civil_s, UTC)
