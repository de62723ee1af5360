"""What a file is run by."""

from __future__ import annotations

from pathlib import Path

import pytest

from chronoshard.cli.source import read_code
from chronoshard.errors import InvalidInput


@pytest.mark.parametrize(
    ("name", "content", "runtime", "text"),
    [
        ("a.py", b"print(1)", "python", "print(1)"),
        ("a.JS", b"1", "javascript", "1"),
        ("a.mjs", b"1", "javascript", "1"),
        ("a.sh", b"ls", "shell", "ls"),
        ("tool", b"\x7fELF\x00", "binary", None),
        ("script", b"#!/bin/sh\nls", "binary", None),
        ("latin.py", b"# \xe4", "python", None),
    ],
)
def test_the_ending_or_the_content_says_what_runs_it(
    tmp_path: Path, name: str, content: bytes, runtime: str, text: str | None
) -> None:
    (tmp_path / name).write_bytes(content)

    code = read_code(tmp_path / name)

    assert (runtime, content, text) == (code.runtime, code.content, code.text())


def test_an_executable_file_is_a_program(tmp_path: Path) -> None:
    path = tmp_path / "tool"
    path.write_bytes(b"MZ")
    path.chmod(0o755)

    assert "binary" == read_code(path).runtime


def test_what_was_said_counts_more_than_the_ending(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("ls")

    assert "shell" == read_code(tmp_path / "a.txt", runtime="shell").runtime


def test_a_file_that_nothing_runs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")

    with pytest.raises(InvalidInput) as caught:
        read_code(tmp_path / "notes.txt")

    assert "source.runtime" == caught.value.code


def test_a_directory_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_code(tmp_path)

    assert "source.unreadable" == caught.value.code
