"""Times as people read them."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from chronoshard.cli.words import Reader, duration, epoch_ms, relative

NOON = epoch_ms("2027-03-01T12:00:00Z")
BERLIN = Reader(NOON, ZoneInfo("Europe/Berlin"))


@pytest.mark.parametrize(
    ("length_ms", "text"),
    [
        (0, "0ms"),
        (850, "850ms"),
        (59_999, "59s"),
        (60_000, "1m"),
        (3_600_000, "1h"),
        (86_399_999, "23h"),
        (400 * 86_400_000, "400d"),
    ],
)
def test_a_length_is_in_its_largest_unit(length_ms: int, text: str) -> None:
    assert text == duration(length_ms)


@pytest.mark.parametrize(
    ("offset_ms", "text"), [(0, "now"), (-999, "now"), (240_000, "in 4m"), (-10_800_000, "3h ago")]
)
def test_a_time_is_told_from_now(offset_ms: int, text: str) -> None:
    assert text == relative(NOON + offset_ms, NOON)


@pytest.mark.parametrize(
    ("time", "text"),
    [
        ("2027-03-01T12:04:00Z", "13:04:00 (in 4m)"),
        ("2027-03-02T02:00:00Z", "02 Mar 03:00 (in 14h)"),
        ("2027-04-01T02:00:00Z", "01 Apr 04:00 (in 30d)"),  # summer time there, though not today
        ("2026-12-31T23:30:00Z", "01 Jan 00:30 (59d ago)"),
        ("2028-03-01T12:00:00Z", "01 Mar 2028 13:00 (in 366d)"),
    ],
)
def test_a_time_shows_as_much_date_as_is_needed(time: str, text: str) -> None:
    assert text == BERLIN.both_of(time)


def test_no_time_stays_none() -> None:
    assert None is BERLIN.both_of(None)
