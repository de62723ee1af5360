"""Stretches of one offset, and what is left of them under a policy."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from chronoshard.domain.timezones import MAX_S, Change, Stretch, pass_of, stretches, tzdata_version, zone_of
from chronoshard.errors import InvalidInput
from tests.unit.domain.civil_oracle import offset_s

HOUR_S = 3_600
BERLIN_GAP_S = 1_774_746_000
BERLIN_OVERLAP_S = 1_792_890_000


def seconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


def test_a_year_has_stretches_between_its_changes() -> None:
    year = (seconds("2026-01-01T00:00Z"), seconds("2027-01-01T00:00Z"))

    assert [
        Stretch(year[0], BERLIN_GAP_S, HOUR_S),
        Stretch(BERLIN_GAP_S, BERLIN_OVERLAP_S, 2 * HOUR_S, gap_s=HOUR_S),
        Stretch(BERLIN_OVERLAP_S, year[1], HOUR_S),
    ] == list(stretches("Europe/Berlin", "both", *year))


def test_the_policy_leaves_out_one_of_the_two_passes() -> None:
    around = (BERLIN_OVERLAP_S - 1, BERLIN_OVERLAP_S + 2 * HOUR_S)

    before, after = stretches("Europe/Berlin", "first", *around)
    assert (BERLIN_OVERLAP_S, BERLIN_OVERLAP_S + HOUR_S) == (before.end_s, after.start_s)

    before, after = stretches("Europe/Berlin", "last", around[0] - HOUR_S, around[1])
    assert (BERLIN_OVERLAP_S - HOUR_S, BERLIN_OVERLAP_S) == (before.end_s, after.start_s)


def test_backwards_the_same_stretches_come_in_reverse() -> None:
    span = (seconds("2024-05-01T00:00Z"), seconds("2027-05-01T00:00Z"))
    forwards = list(stretches("Africa/Casablanca", "both", *span))

    assert forwards[::-1] == list(stretches("Africa/Casablanca", "both", *span, backwards=True))


def test_only_stretches_that_reach_into_the_span_come() -> None:
    assert [HOUR_S] == [
        s.offset_s for s in stretches("Europe/Berlin", "both", BERLIN_GAP_S - HOUR_S, BERLIN_GAP_S)
    ]
    assert [2 * HOUR_S] == [s.offset_s for s in stretches("Europe/Berlin", "both", BERLIN_GAP_S, BERLIN_GAP_S + 1)]
    assert [] == list(stretches("Europe/Berlin", "both", BERLIN_GAP_S, BERLIN_GAP_S))


def test_before_1970_and_after_the_calendar_there_is_nothing() -> None:
    assert [] == list(stretches("UTC", "both", -1_000, 0))
    assert [] == list(stretches("UTC", "both", MAX_S, MAX_S + 1_000))
    assert [0] == [s.start_s for s in stretches("UTC", "both", -1_000, 1)]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Africa/Casablanca", "Australia/Lord_Howe", "Africa/Cairo"])
def test_stretches_hold_the_offset_that_zoneinfo_tells_for_ten_years(zone: str) -> None:
    span = (seconds("2026-01-01T00:00Z"), seconds("2036-01-01T00:00Z"))
    found = list(stretches(zone, "both", *span))

    assert [s.end_s for s in found[:-1]] == [s.start_s for s in found[1:]]
    for stretch in found:
        for instant in range(stretch.start_s, stretch.end_s, 11 * HOUR_S):
            assert stretch.offset_s == offset_s(zone_of(zone), instant)
        assert stretch.offset_s == offset_s(zone_of(zone), stretch.end_s - 1)


def test_a_change_is_a_gap_or_an_overlap() -> None:
    assert Change(0, 0, HOUR_S).gap_s == Change(0, HOUR_S, 0).overlap_s == HOUR_S
    assert Change(0, 0, HOUR_S).overlap_s == Change(0, HOUR_S, 0).gap_s == 0


@pytest.mark.parametrize(
    ("at_s", "which"),
    [
        (BERLIN_OVERLAP_S - HOUR_S - 1, "only"),
        (BERLIN_OVERLAP_S - HOUR_S, "first"),
        (BERLIN_OVERLAP_S - 1, "first"),
        (BERLIN_OVERLAP_S, "second"),
        (BERLIN_OVERLAP_S + HOUR_S - 1, "second"),
        (BERLIN_OVERLAP_S + HOUR_S, "only"),
        (BERLIN_GAP_S, "only"),
    ],
)
def test_of_two_passes_an_instant_knows_which_it_is(at_s: int, which: str) -> None:
    assert which == pass_of("Europe/Berlin", at_s)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("europe/berlin", "did you mean Europe/Berlin"),
        ("Europe/Berln", "did you mean Europe/Berlin"),
        ("America/NewYork", "America/New_York"),
        ("localtime", "use a name like Europe/Berlin"),
        ("../../etc/passwd", "use a name like"),
        ("/etc/localtime", "use a name like"),
        ("", "use a name like"),
        ("\0", "use a name like"),
        ("x" * 100_000, "use a name like"),
    ],
)
def test_an_unknown_zone_is_refused_with_names_that_come_close(name: str, hint: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        zone_of(name)

    assert ("zone.unknown", "/trigger/zone") == (caught.value.code, caught.value.pointer)
    assert hint in (caught.value.hint or "")
    assert len(caught.value.detail) < 200


def test_zones_come_from_the_packaged_database_whose_version_is_known() -> None:
    assert "Europe/Berlin" == zone_of("Europe/Berlin").key
    assert "America/Argentina/Ushuaia" == zone_of("America/Argentina/Ushuaia").key
    assert tzdata_version()[:4].isdigit()
    assert datetime(2026, 1, 1, tzinfo=UTC) == datetime(2026, 1, 1, tzinfo=zone_of("UTC"))
