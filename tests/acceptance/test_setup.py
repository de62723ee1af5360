"""The set-up of a checkout, as `make` calls it, on machines that lack one thing or another."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
COPIED = ("chronoshard", "requirements", "scripts", "pyproject.toml", "README.md", "LICENSE", "Makefile")
# What a machine has that lacks a sandbox, an installer and a way to become root.
BARE = {
    *("bash", "env", "make", "sh", "xargs"),
    *("basename", "cat", "chmod", "cksum", "cut", "dirname", "head", "id", "mktemp", "pwd", "rm", "tail", "uname"),
    *("git", "grep", "sed"),
}
NOBODY = 65534
SET_UP_WITHIN_S = 110


def copy_checkout(directory: Path) -> Path:
    """Return a copy of this checkout that nothing has been set up in, readable by anybody."""
    directory.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, directory / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, directory)
    return directory


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return copy_checkout(tmp_path / "checkout")


class SetUp(NamedTuple):
    checkout: Path
    first: subprocess.CompletedProcess[str]

    def again(self) -> subprocess.CompletedProcess[str]:
        return call(["scripts/setup.sh", "run"], cwd=self.checkout, path=os.environ["PATH"])


@pytest.fixture(scope="module")
def set_up(tmp_path_factory: pytest.TempPathFactory) -> SetUp:
    """Set a copy up once, for all tests that look at the result."""
    checkout = copy_checkout(tmp_path_factory.mktemp("set_up") / "checkout")
    return SetUp(checkout, call(["scripts/setup.sh", "run"], cwd=checkout, path=os.environ["PATH"]))


def bare_path(directory: Path, *, python: str) -> str:
    """Return a PATH with the least of commands, and `python3` as given."""
    directory.mkdir()
    for name in BARE:
        found = shutil.which(name)
        assert found is not None, name
        (directory / name).symlink_to(found)
    script = directory / "python3"
    script.write_text(f"#!/bin/sh\n{python}\n")
    script.chmod(0o755)
    return str(directory)


def call(
    command: Sequence[str], *, cwd: Path, path: str, uid: int | None = None
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": path}
    environment.pop("PYTHON", None)
    return subprocess.run(
        command, cwd=cwd, env=environment, user=uid, capture_output=True, text=True, timeout=SET_UP_WITHIN_S
    )


def test_without_root_one_line_says_what_to_install(checkout: Path, tmp_path: Path) -> None:
    path = bare_path(tmp_path / "bin", python='case "$*" in *ensurepip*) exit 1;; esac; exit 0')
    for directory in (tmp_path, *tmp_path.parents[:2]):
        directory.chmod(0o755)

    done = call(["make", "demo"], cwd=checkout, path=path, uid=NOBODY if os.geteuid() == 0 else None)

    (line, *_) = done.stderr.splitlines()
    assert 2 == done.returncode
    assert "python3-venv bubblewrap" in line
    assert not (checkout / ".venv").exists()


def test_an_old_python_is_named_as_the_reason(checkout: Path, tmp_path: Path) -> None:
    path = bare_path(tmp_path / "bin", python="exit 1")

    done = call(["scripts/setup.sh", "run"], cwd=checkout, path=path)

    assert (2, 1) == (done.returncode, len(done.stderr.splitlines()))
    assert "needs Python 3.11 or newer" in done.stderr


def test_a_fresh_checkout_is_set_up(set_up: SetUp) -> None:
    help_text = call([".venv/bin/chronoshard", "--help"], cwd=set_up.checkout, path=os.environ["PATH"])

    assert (0, "") == (set_up.first.returncode, set_up.first.stderr)
    assert "installing the locked requirements" in set_up.first.stdout
    assert 0 == help_text.returncode, help_text.stderr


def test_a_second_set_up_does_nothing(set_up: SetUp) -> None:
    done = set_up.again()

    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)


def test_a_changed_lock_is_installed(set_up: SetUp) -> None:
    lock = set_up.checkout / "requirements" / "run.txt"
    lock.write_text(lock.read_text() + "    # via nobody\n")

    done = set_up.again()

    assert 0 == done.returncode, done.stderr
    assert "installing the locked requirements" in done.stdout
    assert "making" not in done.stdout


def test_a_platform_without_javascript_gets_everything_else(checkout: Path) -> None:
    lock = checkout / "requirements" / "javascript.txt"
    lock.write_text(re.sub("sha256:[0-9a-f]{64}", "sha256:" + "0" * 64, lock.read_text()))

    done = call(["scripts/setup.sh", "run"], cwd=checkout, path=os.environ["PATH"])

    assert (0, "") == (done.returncode, done.stderr)
    assert "JavaScript tasks will be refused" in done.stdout
    assert not (checkout / ".venv" / "bin" / "deno").exists()
