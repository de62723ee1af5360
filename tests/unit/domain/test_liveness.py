"""Who is condemned, when, and how many at most."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chronoshard.domain.liveness import (
    BEAT_INTERVAL_S,
    FLEET_SHARE_PER_MINUTE,
    LOST_AFTER_S,
    RESEND_S,
    SELF_KILL_S,
    SILENCE_S,
    Incarnation,
    Sighting,
    to_condemn,
)

A1, B1, C1 = (Incarnation(name, "1") for name in "abc")


def fleet(count: int, seen_s: float = 0.0) -> list[Sighting]:
    return [Sighting(Incarnation(f"executor-{number}", "1"), seen_s + number / 1000) for number in range(count)]


def test_a_watcher_who_has_just_started_condemns_nobody() -> None:
    """Its own blindness is not the executor's silence."""
    silent_for_an_hour = [Sighting(A1, seen_s=0.0)]

    assert [] == to_condemn(silent_for_an_hour, now_s=3600.0, watching_since_s=3600.0 - SILENCE_S + 0.1)
    assert [A1] == to_condemn(silent_for_an_hour, now_s=3600.0, watching_since_s=3600.0 - SILENCE_S)


def test_silence_begins_with_the_last_beat() -> None:
    heard = [Sighting(A1, seen_s=100.0)]

    assert [] == to_condemn(heard, now_s=100.0 + SILENCE_S - 0.1, watching_since_s=0.0)
    assert [A1] == to_condemn(heard, now_s=100.0 + SILENCE_S, watching_since_s=0.0)


def test_who_is_heard_of_is_spared() -> None:
    seen = [Sighting(A1, seen_s=10.0), Sighting(B1, seen_s=99.0), Sighting(C1, seen_s=95.0)]

    assert [A1] == to_condemn(seen, now_s=100.0, watching_since_s=0.0)


def test_the_longest_silent_goes_first() -> None:
    seen = [Sighting(A1, seen_s=30.0), Sighting(B1, seen_s=10.0), Sighting(C1, seen_s=20.0)]

    assert [B1] == to_condemn(seen, now_s=100.0, watching_since_s=0.0)
    assert [B1, C1] == to_condemn([*seen, *fleet(7, 99.0)], now_s=100.0, watching_since_s=0.0)


@pytest.mark.parametrize(("size", "most"), [(0, 0), (1, 1), (4, 1), (9, 1), (10, 2), (100, 20)])
def test_a_network_split_takes_one_or_a_fifth_of_the_fleet_per_minute(size: int, most: int) -> None:
    assert most == len(to_condemn(fleet(size), now_s=1000.0, watching_since_s=0.0))


def test_those_condemned_within_the_minute_count() -> None:
    left = fleet(9)

    assert 1 == len(to_condemn(left, now_s=1000.0, watching_since_s=0.0, recently_condemned=1))
    assert [] == to_condemn(left[1:], now_s=1000.0, watching_since_s=0.0, recently_condemned=2)
    assert [] == to_condemn(left, now_s=1000.0, watching_since_s=0.0, recently_condemned=50)


@given(size=st.integers(1, 200), looks=st.integers(1, 8))
def test_however_often_one_looks_a_minute_takes_no_more_than_its_share(size: int, looks: int) -> None:
    alive, condemned = fleet(size), 0
    for _ in range(looks):
        gone = to_condemn(alive, now_s=1000.0, watching_since_s=0.0, recently_condemned=condemned)
        alive = [sighting for sighting in alive if sighting.incarnation not in gone]
        condemned += len(gone)

    assert max(1, int(size * FLEET_SHARE_PER_MINUTE)) == condemned


def test_the_horizons_leave_room_for_each_other() -> None:
    """Two resends fit into the silence, and an executor has killed all before anything of it is called lost."""
    assert BEAT_INTERVAL_S + 2 * RESEND_S < SILENCE_S
    assert SELF_KILL_S < LOST_AFTER_S
    assert (10.0, 3.0, 20.0, 20.0, 22.0) == (BEAT_INTERVAL_S, RESEND_S, SELF_KILL_S, SILENCE_S, LOST_AFTER_S)
