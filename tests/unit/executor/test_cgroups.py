"""Where groups are made, and which limits are written; on a file system that looks like the kernel's."""

from __future__ import annotations

from pathlib import Path

import pytest

from chronoshard.executor import cgroups
from chronoshard.executor.cgroups import NO_HIERARCHY, Group, Hierarchy, find_hierarchy

MEGABYTE = 1024 * 1024


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory for mounts; what /proc says of them is set by `describe`."""
    monkeypatch.setattr(cgroups, "MOUNTS", tmp_path / "mounts")
    monkeypatch.setattr(cgroups, "OWN_GROUP", tmp_path / "own")
    return tmp_path


def describe(kernel: Path, mounts: str, own: str) -> None:
    (kernel / "mounts").write_text(mounts)
    (kernel / "own").write_text(own)


def unified(kernel: Path, group: str, controllers: str) -> Path:
    """Make a version 2 mount with our own group, and the executor's as the kernel would make it."""
    own = kernel / "unified" / group
    for directory in (own, own / "executor"):
        directory.mkdir(parents=True)
        (directory / "cgroup.controllers").write_text(controllers)
    describe(kernel, f"cgroup2 {kernel}/unified cgroup2 rw 0 0\n", f"0::/{group}\n")
    return own


def test_version_2_below_our_own_group_when_both_controllers_are_ours(kernel: Path) -> None:
    own = unified(kernel, "service", "cpu memory pids")

    found = find_hierarchy("executor")

    assert Hierarchy(2, own / "executor", own / "executor") == found
    assert "cgroup v2" == found.kind
    assert "+memory +pids" == (own / "cgroup.subtree_control").read_text()


def test_no_group_without_a_controller(kernel: Path) -> None:
    unified(kernel, "service", "cpu pids")

    assert NO_HIERARCHY == find_hierarchy("executor")
    assert "process tree" == NO_HIERARCHY.kind


def test_version_1_has_a_mount_for_each_controller(kernel: Path) -> None:
    for name in ("memory", "pids"):
        (kernel / name / "own").mkdir(parents=True)
    mounts = [f"cgroup {kernel}/{name} cgroup rw,{name} 0 0\n" for name in ("memory", "pids")]
    describe(kernel, "".join(mounts), "8:pids:/hidden\n4:memory:/own\n")

    found = find_hierarchy("executor")

    assert Hierarchy(1, kernel / "memory/own/executor", kernel / "pids/executor") == found
    assert "cgroup v1" == found.kind


def test_no_groups_where_nothing_is_mounted_or_none_are_wanted(kernel: Path) -> None:
    describe(kernel, "proc /proc proc rw 0 0\n", "0::/\n")

    assert [NO_HIERARCHY] * 2 == [find_hierarchy("executor"), find_hierarchy("")]


def test_version_2_limits_memory_without_swap_and_kills_a_group_as_a_whole(tmp_path: Path) -> None:
    group = Group(Hierarchy(2, tmp_path, tmp_path), "a", memory_bytes=MEGABYTE, pids=7)

    names = ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max")
    assert [str(MEGABYTE), "0", "1", "7"] == [(tmp_path / "a" / name).read_text() for name in names]
    assert [tmp_path / "a"] == group.paths


def test_version_1_limits_memory_and_swap_together(tmp_path: Path) -> None:
    Group(Hierarchy(1, tmp_path, None), "a", memory_bytes=MEGABYTE, pids=7)

    names = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
    assert [str(MEGABYTE)] * 2 == [(tmp_path / "a" / name).read_text() for name in names]
    assert not (tmp_path / "a" / "pids.max").exists()


def test_a_group_knows_which_limits_it_holds() -> None:
    group = Group(NO_HIERARCHY, "a", memory_bytes=MEGABYTE, pids=7)

    assert (False, False, set()) == (group.limits_memory, group.limits_pids, group.processes())


def test_kills_and_refusals_are_read_from_their_counters(tmp_path: Path) -> None:
    group = Group(Hierarchy(2, tmp_path, tmp_path), "a", memory_bytes=MEGABYTE, pids=7)
    (tmp_path / "a" / "memory.events").write_text("low 0\nmax 12\noom 3\noom_kill 2\n")
    (tmp_path / "a" / "pids.events").write_text("max 5\n")
    (tmp_path / "a" / "cgroup.procs").write_text("12\n13\n")

    assert (2, 5, {12, 13}) == (group.memory_kills(), group.refused_forks(), group.processes())
