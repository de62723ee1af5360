"""The lock: everything that pyproject.toml asks for, each with its hashes, and from nowhere in particular."""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
LOCKS = ("run", "dev", "javascript")
ENTRY = re.compile(r"^(?P<name>[a-z0-9-]+)==(?P<version>[^ ;]+)(?: ; [^\\]+)? \\$")
HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}(?: \\)?$")
NEEDED_BY = re.compile(r"^    #(?!.*//) [\w :./()\[\]-]+$")


def described() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def asked_for(lock: str) -> list[Requirement]:
    document = described()
    optional = document["project"]["optional-dependencies"]
    run = [*document["project"]["dependencies"], *document["dependency-groups"]["build"]]
    by_lock = {"run": run, "dev": [*run, *optional["dev"]], "javascript": optional["javascript"]}
    return [Requirement(text) for text in by_lock[lock]]


def lines_of(lock: str) -> list[str]:
    return (ROOT / "requirements" / f"{lock}.txt").read_text().splitlines()


def locked(lock: str) -> dict[str, Version]:
    entries = [match for line in lines_of(lock) if (match := ENTRY.match(line))]
    return {entry["name"]: Version(entry["version"]) for entry in entries}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_a_fitting_version_of_all_that_is_asked_for(lock: str) -> None:
    versions = locked(lock)
    unfit = [
        str(requirement)
        for requirement in asked_for(lock)
        if (version := versions.get(canonicalize_name(requirement.name))) is None
        or version not in requirement.specifier
    ]

    assert [] == unfit, "renew it: make lock"


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_nothing_but_names_versions_hashes_and_who_needs_them(lock: str) -> None:
    allowed = (ENTRY, HASH, NEEDED_BY)
    others = [line for line in lines_of(lock) if not any(pattern.match(line) for pattern in allowed)]

    assert [] == others


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_version_has_hashes(lock: str) -> None:
    pairs = pairwise([*lines_of(lock), ""])
    bare = [line for line, after in pairs if ENTRY.match(line) and not HASH.match(after)]

    assert [] == bare


def test_what_tests_run_on_is_what_users_run_on() -> None:
    run, dev = locked("run"), locked("dev")

    assert run == {name: dev.get(name) for name in run}


def test_the_build_needs_only_what_the_lock_holds() -> None:
    document = described()

    assert document["build-system"]["requires"] == document["dependency-groups"]["build"]
