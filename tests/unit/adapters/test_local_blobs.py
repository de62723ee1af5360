"""What a local directory needs beyond obstore: durable puts, nothing left behind, causes that can be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chronoshard.adapters.blobs import STAGED, STAGED_FOR_S, ObstoreBlobs
from chronoshard.errors import NotFound, Unavailable

Synced = list[tuple[str, bytes | None]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


@pytest.fixture
def blobs(folder: Path) -> ObstoreBlobs:
    return ObstoreBlobs.local(folder)


@pytest.fixture
def synced(blobs: ObstoreBlobs, monkeypatch: pytest.MonkeyPatch) -> Synced:
    """Return what was synced so far, in order: a directory's path, or a file's with what it held."""
    seen: Synced = []
    fsync = os.fsync

    def remember(descriptor: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        seen.append((str(path), path.read_bytes() if path.is_file() else None))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", remember)
    return seen


def test_a_put_is_on_disk_with_every_folder_on_its_way(blobs: ObstoreBlobs, folder: Path, synced: Synced) -> None:
    blobs.put("a/b/c", b"content")

    (_, content), *folders = synced
    assert b"content" == content
    assert [(str(path), None) for path in (folder / "a" / "b", folder / "a", folder)] == folders


def test_a_folder_that_is_known_to_be_on_disk_costs_nothing(
    blobs: ObstoreBlobs, folder: Path, synced: Synced
) -> None:
    blobs.put("a/b/c", b"one")
    synced.clear()
    blobs.put("a/b/d", b"two")
    blobs.put("a/e/f", b"three")

    folders = [path for path, content in synced if content is None]
    assert [str(folder / "a" / "b"), str(folder / "a" / "e"), str(folder / "a")] == folders


def test_several_processes_may_share_a_directory(blobs: ObstoreBlobs, folder: Path) -> None:
    blobs.put("a", b"content")

    assert b"content" == ObstoreBlobs.local(folder).get("a")


def test_a_put_that_fails_leaves_nothing_behind(blobs: ObstoreBlobs, folder: Path) -> None:
    blobs.put("a/b", b"one")
    with pytest.raises(Unavailable, match=r"blob store: cannot put a: .*directory"):
        blobs.put("a", b"a folder lies there")

    assert [] == list((folder / STAGED).iterdir())
    assert b"one" == blobs.get("a/b")


def test_a_store_that_is_gone_says_so_on_every_call(blobs: ObstoreBlobs, folder: Path) -> None:
    for path in (folder / STAGED, folder):
        path.rmdir()
    folder.write_text("no folder any more")

    for call in (blobs.get, blobs.size, blobs.delete, lambda key: blobs.read(key, 0, 1)):
        with pytest.raises(Unavailable, match="Not a directory"):
            call("a")
    with pytest.raises(Unavailable):
        blobs.put("a", b"x")


def test_a_directory_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(Unavailable, match="Not a directory"):
        ObstoreBlobs.local(tmp_path / "file" / "blobs")


def test_a_full_disk_says_so_and_keeps_what_was_there(
    blobs: ObstoreBlobs, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    blobs.put("a", b"old")
    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(Unavailable, match="No space left on device"):
        blobs.put("a", b"new")

    assert b"old" == blobs.get("a")
    assert [] == list((folder / STAGED).iterdir())


def test_a_source_that_cannot_be_read_is_not_the_store_s_fault(blobs: ObstoreBlobs, tmp_path: Path) -> None:
    for source in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(NotFound, match=str(source)):
            blobs.put_file("a", source)


def test_what_a_dead_process_left_is_removed_but_nobody_s_current_upload(
    blobs: ObstoreBlobs, folder: Path
) -> None:
    old, current = folder / STAGED / "old", folder / STAGED / "current"
    for path in (old, current):
        path.write_bytes(b"half")
    modified_s = current.stat().st_mtime - STAGED_FOR_S - 60
    os.utime(old, (modified_s, modified_s))

    ObstoreBlobs.local(folder)
    assert [current] == list((folder / STAGED).iterdir())
