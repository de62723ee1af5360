"""The lock: everything that pyproject.toml asks for, each with its hashes, and from nowhere in particular."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
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


# Asked for, though nothing of ours imports it.
NOT_IMPORTED = {
    "httptools": "makes uvicorn's parsing fast",
    "python-multipart": "FastAPI reads uploads with it",
    "tzdata": "zoneinfo reads it where the system has none",
}


def imported() -> set[str]:
    """Return the distributions that the package's modules import directly."""
    names = set()
    for path in (ROOT / "chronoshard").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(), filename=str(path))):
            if isinstance(node, ast.Import):
                names.update(alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.split(".")[0])
    known = packages_distributions()
    others = names - sys.stdlib_module_names - {"chronoshard"}
    return {canonicalize_name(known[name][0]) if name in known else name for name in others}


def test_the_package_asks_for_what_it_imports_and_for_nothing_else() -> None:
    project = described()["project"]
    asked = {canonicalize_name(Requirement(text).name) for text in project["dependencies"]}
    optional = {Requirement(text).name for text in project["optional-dependencies"]["javascript"]}

    assert asked == imported() - optional | NOT_IMPORTED.keys()
