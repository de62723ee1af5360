"""What the coordination in the process keeps on disk, and what it does when it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chronoshard.adapters.local_coordination import CONDEMNED_AT_LEAST_S, CONDEMNED_FOR_MS, LocalCoordination
from chronoshard.domain.liveness import Incarnation
from chronoshard.errors import Unavailable
from chronoshard.ports import Member

DAY_S = CONDEMNED_FOR_MS / 1000
LIFE = Incarnation("e1", "0001")


class Clock:
    """Both kinds of time, moved by hand and apart."""

    wall_ms = 1_800_000_000_000
    steady_s = 5_000.0

    def now_ms(self) -> int:
        return self.wall_ms

    def monotonic_s(self) -> float:
        return self.steady_s

    def pass_by(self, seconds: float) -> None:
        self.steady_s += seconds
        self.wall_ms += round(seconds * 1000)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "coordination.json"


def test_without_a_file_nothing_is_kept(clock: Clock, tmp_path: Path) -> None:
    coordination = LocalCoordination(None, clock)
    term = coordination.campaign("m1")
    assert term is not None
    term.advance_watermark(5)
    coordination.condemn(LIFE)

    assert ({LIFE: 0.0}, 5) == (coordination.condemned(), coordination.watermark())
    assert [] == list(tmp_path.iterdir())


def test_only_the_file_is_left_behind(clock: Clock, path: Path) -> None:
    LocalCoordination(path, clock).condemn(LIFE)

    assert [path] == list(path.parent.iterdir())


@pytest.mark.parametrize("content", ["", "{", "[]", '{"term": "x"}', '{"terms": 3}', '{"version": 2}'])
def test_a_file_that_cannot_be_understood_stops_the_start(clock: Clock, path: Path, content: str) -> None:
    """Going on without it would forget who is condemned."""
    path.write_text(content)

    with pytest.raises(Unavailable, match=r"coordination\.json"):
        LocalCoordination(path, clock)
    assert content == path.read_text()


def test_what_cannot_be_made_durable_does_not_happen(clock: Clock, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    coordination = LocalCoordination(folder / "coordination.json", clock)
    term = coordination.campaign("m1")
    assert term is not None
    (folder / "coordination.json").unlink()
    folder.rmdir()

    with pytest.raises(Unavailable):
        coordination.condemn(LIFE)
    with pytest.raises(Unavailable):
        term.advance_watermark(5)
    term.resign()
    with pytest.raises(Unavailable):
        coordination.campaign("m1")
    assert (False, None) == (coordination.is_condemned(LIFE), coordination.watermark())

    folder.mkdir()
    again = coordination.campaign("m1")
    assert again is not None
    assert term.number + 1 == again.number


def test_who_is_condemned_again_and_again_stands_in_the_file_once(clock: Clock, path: Path) -> None:
    coordination = LocalCoordination(path, clock)
    for _ in range(3):
        coordination.condemn(LIFE)

    assert [["e1", "0001", clock.wall_ms]] == json.loads(path.read_text())["condemned"]


def test_a_jump_of_the_wall_clock_ages_no_condemnation(clock: Clock, path: Path) -> None:
    coordination = LocalCoordination(path, clock)
    coordination.condemn(LIFE)
    clock.wall_ms += 3_600_000
    clock.steady_s += 3.0

    assert {LIFE: 3.0} == coordination.condemned()
    assert {LIFE: 0.0} == LocalCoordination(path, clock).condemned(), "counted anew: it can only be older"


def test_condemnations_are_forgotten_after_a_day(clock: Clock, path: Path) -> None:
    coordination = LocalCoordination(path, clock)
    coordination.condemn(LIFE)
    clock.pass_by(DAY_S - 1)
    coordination.condemn(Incarnation("e2", "0001"))
    assert coordination.is_condemned(LIFE)
    clock.pass_by(1)
    coordination.condemn(Incarnation("e3", "0001"))

    assert {"e2", "e3"} == {incarnation.executor for incarnation in coordination.condemned()}
    assert 2 == len(json.loads(path.read_text())["condemned"])


def test_a_wall_clock_that_jumps_by_a_day_forgives_nobody(clock: Clock, path: Path) -> None:
    coordination = LocalCoordination(path, clock)
    coordination.condemn(LIFE)
    clock.wall_ms += 2 * CONDEMNED_FOR_MS
    clock.steady_s += CONDEMNED_AT_LEAST_S - 1
    coordination.condemn(Incarnation("e2", "0001"))

    assert coordination.is_condemned(LIFE)


def test_joining_again_unchanged_is_no_change(clock: Clock) -> None:
    """A part that joins at each of its passes wakes nobody."""
    coordination = LocalCoordination(None, clock)
    coordination.join(Member("api", "a1"))
    seen = coordination.wait_for_change(-1, timeout_s=0.0)
    coordination.join(Member("api", "a1"))

    assert seen == coordination.wait_for_change(seen, timeout_s=0.0)
