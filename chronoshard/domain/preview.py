"""A schedule in words, and notes where daylight saving shifts a run."""

from __future__ import annotations

from datetime import timedelta

from chronoshard.domain.cron import ALIASES, parse
from chronoshard.domain.schedule import Dst
from chronoshard.domain.timezones import civil, offset_s, pass_of, zone_of
from chronoshard.domain.trigger import Cron, Interval, Manual, Now, Once, Trigger


def describe(trigger: Trigger) -> str:
    """Return what the trigger means, in English."""
    match trigger:
        case Cron(schedule=schedule, zone=zone):
            return f"{_words(schedule)} ({zone})"
        case Interval(every_ms=every_ms):
            return f"Every {timedelta(milliseconds=every_ms)}"
        case Once():
            return "Once"
        case Now():
            return "Once, at once"
        case Manual():
            return "Only when asked"


def annotated(trigger: Trigger, nominal_ms: int, dst: Dst) -> str | None:
    """Return what daylight saving does to this occurrence; None: nothing."""
    if not isinstance(trigger, Cron):
        return None
    fields, zone = parse(trigger.schedule), zone_of(trigger.zone)
    instant = nominal_ms // 1000
    before, after = offset_s(zone, instant - 1), offset_s(zone, instant)
    local = civil(instant, after)
    if not fields.every_hour and before < after:
        missing = civil(instant, before)
        return (
            f"the times from {missing:%H:%M} to {local:%H:%M} do not exist on {local:%Y-%m-%d} "
            f"(clocks go forward): runs at {local:%H:%M}"
        )
    which = pass_of(zone, instant)
    if which == "only":
        return None
    time = "first" if which == "first" else "second"
    twice = f"{local:%H:%M} happens twice on {local:%Y-%m-%d} (clocks go back): "
    if fields.every_hour or dst.overlap == "both":
        return f"{twice}this is the {time} time"
    return f"{twice}runs the {time} time only"


def _words(schedule: str) -> str:
    from cron_descriptor import ExpressionDescriptor, Options  # late: the parts that only decide never need it

    options = Options()
    options.use_24hour_time_format = True
    return str(ExpressionDescriptor(ALIASES.get(schedule.strip().lower(), schedule), options))
