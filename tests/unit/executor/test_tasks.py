"""Code on local disk: fetched once, checked, bounded."""

from __future__ import annotations

from pathlib import Path

import pytest

from chronoshard.errors import ChronoshardError, Unavailable
from chronoshard.executor.tasks import Tasks
from tests.executor.bench import MemoryBlobs, uploaded


@pytest.fixture
def blobs() -> MemoryBlobs:
    return MemoryBlobs()


def test_code_is_fetched_once_and_executable(blobs: MemoryBlobs, tmp_path: Path) -> None:
    task = uploaded(blobs, "shell", b"echo hello")
    tasks = Tasks(blobs, tmp_path)

    path = tasks.path(task, runtime="shell", suffix=".sh")
    blobs.away = True

    assert path == tasks.path(task, runtime="shell", suffix=".sh")
    assert (b"echo hello", 0o755) == (path.read_bytes(), path.stat().st_mode & 0o777)


def test_what_an_earlier_life_fetched_is_used_again(blobs: MemoryBlobs, tmp_path: Path) -> None:
    task = uploaded(blobs, "shell", b"echo hello")
    path = Tasks(blobs, tmp_path).path(task, runtime="shell", suffix=".sh")
    blobs.away = True

    assert path == Tasks(blobs, tmp_path).path(task, runtime="shell", suffix=".sh")


def test_what_was_changed_on_disk_is_fetched_again(blobs: MemoryBlobs, tmp_path: Path) -> None:
    task = uploaded(blobs, "shell", b"echo hello")
    path = Tasks(blobs, tmp_path).path(task, runtime="shell", suffix=".sh")
    path.write_bytes(b"echo evil")

    Tasks(blobs, tmp_path).path(task, runtime="shell", suffix=".sh")

    assert b"echo hello" == path.read_bytes()


def test_the_least_recently_used_goes_first(blobs: MemoryBlobs, tmp_path: Path) -> None:
    tasks = Tasks(blobs, tmp_path, limit_bytes=25)
    old, used, new = (uploaded(blobs, "shell", letter * 10) for letter in (b"a", b"b", b"c"))
    for task in (used, old, used, new):
        tasks.path(task, runtime="shell", suffix=".sh")

    assert [b"b" * 10, b"c" * 10] == sorted(path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    ("runtime", "content", "code"),
    [
        ("shell", None, "task.missing"),
        ("shell", b"shell\necho evil", "task.corrupt"),
        ("python", b"shell\necho hello", "task.corrupt"),
    ],
)
def test_what_cannot_be_had_is_said_with_its_reason(
    blobs: MemoryBlobs, tmp_path: Path, runtime: str, content: bytes | None, code: str
) -> None:
    task = uploaded(blobs, "shell", b"echo hello")
    key = f"tasks/{task.removeprefix('sha256:')}"
    if content is None:
        blobs.delete(key)
    else:
        blobs.kept[key] = content

    with pytest.raises(ChronoshardError) as refused:
        Tasks(blobs, tmp_path).path(task, runtime=runtime, suffix=".sh")

    assert code == refused.value.code


def test_a_store_that_is_away_is_not_a_missing_task(blobs: MemoryBlobs, tmp_path: Path) -> None:
    blobs.away = True

    with pytest.raises(Unavailable):
        Tasks(blobs, tmp_path).source("sha256:" + "0" * 64, runtime="shell")
