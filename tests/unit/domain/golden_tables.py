"""How a table of runs around a change of the clocks is written. The files in `golden/` are such tables.

Below each schedule stand the policies and the runs within two hours of the change, in civil time with its offset.
Policies that agree share a line: only a gap's policy matters in a gap, only an overlap's in an overlap.
"""

from __future__ import annotations

import itertools
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

from chronoshard.domain.timezones import zone_of
from chronoshard.domain.trigger import Cron, Dst, occurrences

Gap = Literal["run", "skip"]
Overlap = Literal["first", "last", "both"]

FOLDER = Path(__file__).parent / "golden"
AROUND_MS = 2 * 3_600_000
SCHEDULES = {
    "45 1 * * *": "fixed hour",
    "15 2 * * *": "fixed hour",
    "*/15 1,2 * * *": "fixed hours",
    "0 1-3 * * *": "fixed hours",
    "*/30 * * * *": "star hour",
    "15 */2 * * *": "step hour",
    "45 1-23/2 * * *": "step hour",
}
GAPS: tuple[Gap, ...] = ("run", "skip")
OVERLAPS: tuple[Overlap, ...] = ("first", "last", "both")


class Shift(NamedTuple):
    """A change of the clocks: in which file, at which instant, in words."""

    file: str
    zone: str
    utc: str
    words: str

    @property
    def at_ms(self) -> int:
        return int(datetime.fromisoformat(self.utc).timestamp()) * 1000


SHIFTS = (
    Shift("berlin_gap.txt", "Europe/Berlin", "2026-03-29T01:00Z", "02:00 becomes 03:00"),
    Shift("berlin_overlap.txt", "Europe/Berlin", "2026-10-25T01:00Z", "03:00 becomes 02:00"),
    Shift("new_york_gap.txt", "America/New_York", "2026-03-08T07:00Z", "02:00 becomes 03:00"),
    Shift("new_york_overlap.txt", "America/New_York", "2026-11-01T06:00Z", "02:00 becomes 01:00"),
    Shift("lord_howe_gap.txt", "Australia/Lord_Howe", "2025-10-04T15:30Z", "02:00 becomes 02:30"),
    Shift("lord_howe_overlap.txt", "Australia/Lord_Howe", "2025-04-05T15:00Z", "02:00 becomes 01:30"),
    Shift("casablanca_gap.txt", "Africa/Casablanca", "2025-04-06T02:00Z", "02:00 becomes 03:00, Ramadan is over"),
    Shift(
        "casablanca_overlap.txt", "Africa/Casablanca", "2025-02-23T02:00Z", "03:00 becomes 02:00, Ramadan begins"
    ),
)


def table(shift: Shift) -> str:
    """Return the table of a change as text."""
    lines = [f"{shift.zone}, {shift.utc}: {shift.words}", ""]
    for schedule, kind in SCHEDULES.items():
        lines.append(f"{schedule}   ({kind})")
        runs = {(gap, overlap): _runs(shift, schedule, Dst(gap, overlap)) for gap in GAPS for overlap in OVERLAPS}
        lines += [f"    {name:<14} {shown}" for name, shown in _shared(runs).items()]
        lines.append("")
    return "\n".join(lines)


def _shared(runs: dict[tuple[Gap, Overlap], str]) -> dict[str, str]:
    """Return one line for all policies, or one per policy of that kind which alone makes a difference."""
    if len(set(runs.values())) == 1:
        return {"always": runs["run", "first"]}
    if all(runs[gap, overlap] == runs[gap, "first"] for gap, overlap in runs):
        return {f"gap {gap}": runs[gap, "first"] for gap in GAPS}
    assert all(runs[gap, overlap] == runs["run", overlap] for gap, overlap in runs)
    return {f"overlap {overlap}": runs["run", overlap] for overlap in OVERLAPS}


def _runs(shift: Shift, schedule: str, dst: Dst) -> str:
    times = occurrences(Cron(schedule, shift.zone), after_ms=shift.at_ms - AROUND_MS - 1, dst=dst)
    near = itertools.takewhile(lambda nominal_ms: nominal_ms <= shift.at_ms + AROUND_MS, times)
    local = (datetime.fromtimestamp(nominal_ms / 1000, zone_of(shift.zone)) for nominal_ms in near)
    return " ".join(f"{time:%H:%M}{time.isoformat()[-6:]}" for time in local) or "-"
