"""Words for triggers, and notes for the runs that a change of the clocks shifts."""

from __future__ import annotations

import pytest

from chronoshard.domain.preview import annotated, describe
from chronoshard.domain.trigger import Cron, Dst, Interval, Manual, Now, Once, Trigger, next_occurrences

GAP = 1_774_746_000_000  # 2026-03-29T01:00Z: in Berlin 02:00 becomes 03:00
OVERLAP = 1_792_890_000_000  # 2026-10-25T01:00Z: in Berlin 03:00 becomes 02:00
MINUTE, HOUR = 60_000, 3_600_000


def berlin(schedule: str) -> Cron:
    return Cron(schedule, "Europe/Berlin")


@pytest.mark.parametrize(
    ("trigger", "words"),
    [
        (berlin("30 2 * * *"), "At 02:30 (Europe/Berlin)"),
        (Cron("@daily"), "At 00:00 (UTC)"),
        (Cron("*/5 * * * *", jitter_ms=90_000), "Every 5 minutes (UTC), up to 1 minute 30 seconds later"),
        (Cron("0 0 * * L5"), "At 00:00, on the last Friday of the month (UTC)"),
        (
            Cron("0 * * * *", starts_at_ms=0, ends_at_ms=GAP, max_runs=3),
            "Every hour (UTC), from 1970-01-01 00:00:00 UTC, until 2026-03-29 01:00:00 UTC, 3 times at most",
        ),
        (Interval(90_000, 0), "Every 1 minute 30 seconds"),
        (Interval(86_400_000 * 2 + 1, 0), "Every 2 days 1 millisecond"),
        (Once(GAP), "Once, at 2026-03-29 01:00:00 UTC"),
        (Now(GAP), "Once, at once"),
        (Manual(), "Only when asked"),
    ],
)
def test_a_trigger_is_said_in_words(trigger: Trigger, words: str) -> None:
    assert words == describe(trigger)


@pytest.mark.parametrize(
    ("schedule", "at_ms", "dst", "note"),
    [
        (
            "30 2 * * *",
            GAP,
            Dst(),
            "02:30 does not exist on 2026-03-29 (clocks go forward), runs at 03:00",
        ),
        (
            "*/15 2 * * *",
            GAP,
            Dst(),
            "02:00 to 02:45 do not exist on 2026-03-29 (clocks go forward), runs once at 03:00",
        ),
        (
            "10 30 2 * * *",
            GAP,
            Dst(),
            "02:30:10 does not exist on 2026-03-29 (clocks go forward), runs at 03:00:00",
        ),
        ("0 3 * * *", GAP, Dst(), None),
        ("0 * * * *", GAP, Dst(), None),
        ("30 2 * * *", GAP + 23 * HOUR + 30 * MINUTE, Dst(), None),
        (
            "30 2 * * *",
            OVERLAP - 30 * MINUTE,
            Dst(),
            "02:30 happens twice on 2026-10-25 (clocks go back): runs the first time only",
        ),
        (
            "30 2 * * *",
            OVERLAP + 30 * MINUTE,
            Dst(overlap="last"),
            "02:30 happens twice on 2026-10-25 (clocks go back): runs the second time only",
        ),
        (
            "30 2 * * *",
            OVERLAP + 30 * MINUTE,
            Dst(overlap="both"),
            "02:30 happens twice on 2026-10-25 (clocks go back): this is the second time",
        ),
        (
            "0 * * * *",
            OVERLAP,
            Dst(),
            "02:00 happens twice on 2026-10-25 (clocks go back): this is the second time",
        ),
        ("30 4 * * *", OVERLAP + 150 * MINUTE, Dst(), None),
    ],
)
def test_a_run_that_the_clocks_shift_has_a_note(schedule: str, at_ms: int, dst: Dst, note: str | None) -> None:
    trigger = berlin(schedule)

    assert [at_ms] == next_occurrences(trigger, after_ms=at_ms - 1, dst=dst, count=1)
    assert note == annotated(trigger, at_ms, dst)


@pytest.mark.parametrize("trigger", [Interval(HOUR, 0), Once(GAP), Now(GAP), Manual(), Cron("30 2 * * *")])
def test_what_goes_by_utc_has_no_notes(trigger: Trigger) -> None:
    assert annotated(trigger, GAP, Dst()) is None
