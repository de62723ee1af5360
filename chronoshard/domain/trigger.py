"""When a job is due: its trigger's nominal times, and the jitter on top of them.

All times are UTC epoch milliseconds. `max_runs` is kept by whoever counts the occurrences, through ordinals.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from chronoshard.domain.cron import expanded_for, parse
from chronoshard.domain.schedule import HORIZON_DAYS, MEMOISED, Dst, instants, is_instant, last_instant
from chronoshard.domain.timezones import zone_of
from chronoshard.errors import InvalidInput

HORIZON_MS = HORIZON_DAYS * 86_400_000  # rows are made ten years ahead at most
MIN_INTERVAL_MS = 1_000
PAST_MS = 60_000  # `at` may lie that far back, for those whose clock is a little slow
MAX_JITTER_MS = 86_400_000
MAX_JITTER_RUNS = 60  # jitter reaches over so many runs at most: they all have to be in the timetable ahead
MAX_MAX_RUNS = 1_000_000
__all__ = [
    "Cron",
    "Dst",
    "Interval",
    "Manual",
    "Now",
    "Once",
    "Trigger",
    "due_ms",
    "is_occurrence",
    "next_occurrences",
    "occurrences",
    "previous_occurrence",
    "validated",
]

FIRST_TIMES = 6  # as many as are usually asked for: those that are made ahead, and one more to see the end


class Cron(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="cron"):
    """`schedule` has 5 fields, or 6 with the seconds first, or is an alias like @daily."""

    schedule: str
    zone: str = "UTC"
    starts_at_ms: int | None = None
    ends_at_ms: int | None = None
    max_runs: int | None = None
    jitter_ms: int = 0


class Interval(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="interval"):
    """Nominal times are start_ms + k * every_ms, whatever happens in between."""

    every_ms: int
    start_ms: int
    starts_at_ms: int | None = None
    ends_at_ms: int | None = None
    max_runs: int | None = None
    jitter_ms: int = 0


class Once(msgspec.Struct, frozen=True, tag_field="kind", tag="once"):
    at_ms: int


class Now(msgspec.Struct, frozen=True, tag_field="kind", tag="now"):
    """`at_ms` is the instant at which the job was accepted."""

    at_ms: int


class Manual(msgspec.Struct, frozen=True, tag_field="kind", tag="manual"):
    """Runs only when somebody asks."""


Trigger = Cron | Interval | Once | Now | Manual


def validated(trigger: Trigger, *, now_ms: int, job_id: str) -> Trigger:
    """Return the trigger as it will be kept, H replaced; raise InvalidInput with a pointer to the field."""
    match trigger:
        case Cron():
            trigger = msgspec.structs.replace(trigger, schedule=expanded_for(trigger.schedule, job_id))
            parse(trigger.schedule)
            zone_of(trigger.zone)
            _check_fires(trigger, now_ms)
            _check_limits(trigger, now_ms)
        case Interval(every_ms=every_ms):
            if not MIN_INTERVAL_MS <= every_ms <= HORIZON_MS:
                raise _invalid("trigger.every", "every", "an interval is at least 1 second and at most ten years")
            _check_far(trigger.start_ms, now_ms, "start")
            _check_limits(trigger, now_ms)
        case Once(at_ms=at_ms):
            if at_ms < now_ms - PAST_MS:
                raise _invalid("trigger.past", "at", "this time has passed", "give a later time, or kind now")
            _check_far(at_ms, now_ms, "at")
    return trigger


def occurrences(trigger: Trigger, *, after_ms: int, dst: Dst) -> Iterator[int]:
    """Yield the nominal times strictly after `after_ms`, ascending, at most ten years ahead."""
    match trigger:
        case Cron() | Interval():
            low_ms, high_ms = _window(trigger, after_ms + 1, after_ms + HORIZON_MS)
            yield from itertools.takewhile(lambda nominal_ms: nominal_ms <= high_ms, _times(trigger, low_ms, dst))
        case Once(at_ms=at_ms) | Now(at_ms=at_ms):
            if after_ms < at_ms <= after_ms + HORIZON_MS:
                yield at_ms
        case Manual():  # pragma: no branch (there is no other kind)
            return


def next_occurrences(trigger: Trigger, *, after_ms: int, dst: Dst, count: int) -> list[int]:
    """Return the first `count` nominal times after `after_ms`, or as many as there are."""
    return list(itertools.islice(occurrences(trigger, after_ms=after_ms, dst=dst), count))


def previous_occurrence(trigger: Trigger, *, at_or_before_ms: int, not_before_ms: int, dst: Dst) -> int | None:
    """Return the last nominal time in [not_before, at_or_before]; None when there is none."""
    match trigger:
        case Cron():
            low_ms, high_ms = _window(trigger, not_before_ms, at_or_before_ms)
            found = last_instant(
                trigger.schedule,
                trigger.zone,
                dst,
                at_or_before_s=high_ms // 1000,
                not_before_s=-(-low_ms // 1000),
            )
            return found * 1000 if found is not None else None
        case Interval():
            low_ms, high_ms = _window(trigger, not_before_ms, at_or_before_ms)
            last_ms = high_ms - (high_ms - trigger.start_ms) % trigger.every_ms
            return last_ms if last_ms >= max(low_ms, trigger.start_ms) else None
        case Once(at_ms=at_ms) | Now(at_ms=at_ms):
            return at_ms if not_before_ms <= at_ms <= at_or_before_ms else None
        case Manual():  # pragma: no branch (there is no other kind)
            return None


def is_occurrence(trigger: Trigger, nominal_ms: int, *, dst: Dst) -> bool:
    """Say whether the trigger has this nominal time."""
    match trigger:
        case Cron():
            low_ms, high_ms = _window(trigger, nominal_ms, nominal_ms)
            return (
                low_ms == high_ms
                and nominal_ms % 1000 == 0
                and is_instant(trigger.schedule, trigger.zone, dst, nominal_ms // 1000)
            )
        case Interval(every_ms=every_ms, start_ms=start_ms):
            low_ms, high_ms = _window(trigger, nominal_ms, nominal_ms)
            return low_ms == high_ms and nominal_ms >= start_ms and (nominal_ms - start_ms) % every_ms == 0
        case Once(at_ms=at_ms) | Now(at_ms=at_ms):
            return nominal_ms == at_ms
        case Manual():  # pragma: no branch (there is no other kind)
            return False


def due_ms(trigger: Trigger, job_id: str, nominal_ms: int) -> int:
    """Return when the run may start: nominal plus a jitter in [0, jitter_ms) that anybody computes the same."""
    jitter_ms = trigger.jitter_ms if isinstance(trigger, Cron | Interval) else 0
    if jitter_ms == 0:
        return nominal_ms
    return nominal_ms + zlib.crc32(f"{job_id}/{nominal_ms}".encode()) * jitter_ms // 2**32


def _times(trigger: Cron | Interval, from_ms: int, dst: Dst) -> Iterator[int]:
    """Return the times from `from_ms` on; the first few of a cron are shared by all jobs with its expression."""
    if isinstance(trigger, Interval):
        first = max(0, -((trigger.start_ms - from_ms) // trigger.every_ms))
        return itertools.count(trigger.start_ms + first * trigger.every_ms, trigger.every_ms)
    asked = (trigger.schedule, trigger.zone, dst)
    shared = _first_times(*asked, (from_ms - 1) // 1000)
    later = instants(*asked, after_s=shared[-1]) if len(shared) == FIRST_TIMES else iter(())
    return (instant_s * 1000 for instant_s in itertools.chain(shared, later))


@lru_cache(maxsize=MEMOISED)
def _first_times(schedule: str, zone: str, dst: Dst, after_s: int) -> tuple[int, ...]:
    return tuple(itertools.islice(instants(schedule, zone, dst, after_s=after_s), FIRST_TIMES))


def _window(trigger: Cron | Interval, low_ms: int, high_ms: int) -> tuple[int, int]:
    if trigger.starts_at_ms is not None:
        low_ms = max(low_ms, trigger.starts_at_ms)
    if trigger.ends_at_ms is not None:
        high_ms = min(high_ms, trigger.ends_at_ms)
    return low_ms, high_ms


def _check_fires(trigger: Cron, now_ms: int) -> None:
    if not next_occurrences(Cron(trigger.schedule, trigger.zone), after_ms=now_ms, dst=Dst(), count=1):
        raise _invalid(
            "cron.never",
            "schedule",
            f'"{trigger.schedule}" never fires within ten years',
            "check the day of the month against the month",
        )


def _check_limits(trigger: Cron | Interval, now_ms: int) -> None:
    if trigger.max_runs is not None and not 1 <= trigger.max_runs <= MAX_MAX_RUNS:
        raise _invalid("trigger.max_runs", "max_runs", f"max_runs is between 1 and {MAX_MAX_RUNS:,}")
    starts_ms, ends_ms = trigger.starts_at_ms, trigger.ends_at_ms
    if starts_ms is not None:
        _check_far(starts_ms, now_ms, "starts_at")
        if ends_ms is not None and ends_ms < starts_ms:
            raise _invalid("trigger.bounds", "ends_at", "ends_at is before starts_at")
    ahead = next_occurrences(
        trigger, after_ms=now_ms, dst=Dst(), count=MAX_JITTER_RUNS if trigger.jitter_ms else 1
    )
    if not ahead:
        field = "ends_at" if ends_ms is not None else "starts_at"
        raise _invalid("trigger.bounds", field, "within these bounds no run lies ahead")
    if not 0 <= trigger.jitter_ms <= MAX_JITTER_MS:
        raise _invalid("trigger.jitter", "jitter", "jitter is between 0 and one day")
    if len(ahead) == MAX_JITTER_RUNS and ahead[-1] - ahead[0] < trigger.jitter_ms:
        what = f"this jitter is longer than {MAX_JITTER_RUNS} runs take"
        raise _invalid("trigger.jitter", "jitter", what, "give less jitter, or a schedule with fewer runs")


def _check_far(time_ms: int, now_ms: int, field: str) -> None:
    if time_ms > now_ms + HORIZON_MS:
        raise _invalid("trigger.far", field, "this is more than ten years ahead", "give an earlier time")


def _invalid(code: str, field: str, what: str, hint: str | None = None) -> InvalidInput:
    return InvalidInput(what, code=code, pointer=f"/trigger/{field}", hint=hint)
