"""One executor per directory, and incarnations that sort."""

from __future__ import annotations

from pathlib import Path

import pytest

from chronoshard.errors import Conflict
from chronoshard.executor.directory import DataDirectory


def test_a_directory_in_use_is_refused_and_free_after_it_is_closed(tmp_path: Path) -> None:
    first = DataDirectory(tmp_path)
    with pytest.raises(Conflict):
        DataDirectory(tmp_path)

    first.close()

    DataDirectory(tmp_path).close()


def test_later_incarnations_sort_after_earlier_ones_whatever_the_clock_does(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)

    incarnations = [directory.new_incarnation(now_ms) for now_ms in (2_000, 1_000, 2_000, 3_000)]

    assert sorted(set(incarnations)) == incarnations
    assert f"{3_000:012x}" == incarnations[-1]
    directory.close()


def test_only_the_present_life_is_kept(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path)
    old, new = directory.new_incarnation(1), directory.new_incarnation(2)
    (directory.lives / old / "attempts").mkdir()

    directory.forget_lives(but=new)

    assert [new] == [path.name for path in directory.lives.iterdir()]
    directory.close()


def test_the_control_group_has_a_name_of_its_own(tmp_path: Path) -> None:
    one, other = DataDirectory(tmp_path / "a"), DataDirectory(tmp_path / "b")

    assert one.group != other.group

    one.close()
    other.close()
