"""What every store of blobs promises; see chronoshard.ports.blobs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chronoshard.errors import InvalidInput
from chronoshard.ports import Blobs

KEY = "tasks/sha256-9f86d081/task.PY_1"
LARGE = 12 * 1024 * 1024  # bytes: in several parts wherever parts are made

NO_KEYS = ["", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/./b", "a b", "a\\b", "a\0", "a\n", "ä"]
NO_KEYS += ["a%2e", "~a", "+staged/x", "a?b", "a#1", "a" * 201, "/".join(["a"] * 300)]


@pytest.mark.parametrize("data", [b"", b"one", bytes(range(256)) * 1000], ids=["empty", "text", "bytes"])
def test_what_is_put_is_there(blobs: Blobs, data: bytes) -> None:
    blobs.put(KEY, data)

    assert (data, len(data)) == (blobs.get(KEY), blobs.size(KEY))


def test_putting_again_replaces(blobs: Blobs) -> None:
    blobs.put(KEY, b"a longer content")
    blobs.put(KEY, b"short")

    assert (b"short", 5) == (blobs.get(KEY), blobs.size(KEY))


@pytest.mark.parametrize("size", [0, 5, LARGE], ids=["empty", "small", "large"])
def test_a_file_is_stored_with_its_content(blobs: Blobs, tmp_path: Path, size: int) -> None:
    source = tmp_path / "source"
    source.write_bytes(bytes(range(256)) * (size // 256) + b"x" * (size % 256))
    blobs.put_file(KEY, source)

    assert size == blobs.size(KEY)
    assert source.read_bytes() == blobs.get(KEY)


@pytest.mark.parametrize(
    ("offset", "limit", "expected"),
    [
        (0, 4, b"0123"),
        (4, 4, b"4567"),
        (8, 4, b"89"),
        (0, 100, b"0123456789"),
        (9, 1, b"9"),
        (10, 4, b""),
        (1_000, 4, b""),
        (3, 0, b""),
    ],
)
def test_a_part_can_be_read(blobs: Blobs, offset: int, limit: int, expected: bytes) -> None:
    blobs.put(KEY, b"0123456789")

    assert expected == blobs.read(KEY, offset, limit)


def test_an_empty_blob_can_be_read(blobs: Blobs) -> None:
    blobs.put(KEY, b"")

    assert b"" == blobs.read(KEY, 0, 10)


@pytest.mark.parametrize("key", ["a/b/d", "a/x/c", "a/b", "z"])
def test_what_is_not_there_is_none(blobs: Blobs, key: str) -> None:
    blobs.put("a/b/c", b"neighbour")

    assert (None, None) == (blobs.get(key), blobs.size(key))
    assert (None, None) == (blobs.read(key, 0, 10), blobs.read(key, 0, 0))


def test_what_is_deleted_is_gone_and_may_be_deleted_again(blobs: Blobs) -> None:
    blobs.put(KEY, b"one")
    blobs.put(KEY + ".2", b"two")
    blobs.delete(KEY)
    blobs.delete(KEY)

    assert (None, b"two") == (blobs.get(KEY), blobs.get(KEY + ".2"))


@pytest.mark.parametrize("key", NO_KEYS)
def test_what_is_no_key_is_refused(blobs: Blobs, tmp_path: Path, key: str) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"x")
    before = sorted(tmp_path.rglob("*"))

    for call in (blobs.get, blobs.size, blobs.delete):
        with pytest.raises(InvalidInput):
            call(key)
    with pytest.raises(InvalidInput):
        blobs.read(key, 0, 1)
    with pytest.raises(InvalidInput):
        blobs.put(key, b"x")
    with pytest.raises(InvalidInput):
        blobs.put_file(key, source)
    assert before == sorted(tmp_path.rglob("*"))


def test_a_reader_never_sees_half_of_a_put(blobs: Blobs) -> None:
    contents = {letter: letter * LARGE for letter in (b"a", b"b")}
    blobs.put(KEY, contents[b"a"])

    def put(letter: bytes) -> None:
        for _ in range(3):
            blobs.put(KEY, contents[letter])

    with ThreadPoolExecutor() as pool:
        puts = [pool.submit(put, letter) for letter in contents]
        whole = {True}
        while not all(one.done() for one in puts):
            read = blobs.get(KEY)
            assert read is not None
            whole.add(read == contents[read[:1]])
        for one in puts:
            one.result()

    assert {True} == whole
