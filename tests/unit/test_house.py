"""The budgets and habits that CONTRIBUTING.md promises, as tests. An exception is a row here, with its reason."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]

FILE_LINES = 400
FILE_LINES_MEDIAN = 120
FUNCTION_LINES = 70
FUNCTION_LINES_USUAL = 45
USUAL_SHARE = 0.95

# Who asks for the time, waits or draws lots by himself. Everybody else is given a clock.
OWN_TIME = {
    "chronoshard/clock.py": "it is the clock",
    "chronoshard/bench/": "measures real time from outside the server",
    "chronoshard/demo/": "a program for people to watch, which looks at a server from outside",
}
# Functions and files over the budget, each with the reason why a cut would make it harder to read.
LONG_FUNCTIONS: dict[str, str] = {}
LONG_FILES: dict[str, str] = {}

FORBIDDEN_CALLS = {
    "time": {"time", "time_ns", "sleep", "localtime", "gmtime"},
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
    "random": {"*"},  # but for `random.Random(seed)`, which is not chance
}
MARKS = re.compile("|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX", "NotImplemented" + "Error")))
PLACES = re.compile(r"(?<![\w.$}])/(?:home|Users|root|work)/[\w.]")
REGISTRIES = re.compile(
    "|".join((r"pypi\.(?:org|python)", r"pythonhosted\.", r"\.pkg\.dev", r"artifactory", r"registry\.npmjs"))
)


class Function(NamedTuple):
    name: str
    lines: int


def tracked(*patterns: str) -> list[Path]:
    """Return the files of this checkout that are, or are about to be, part of the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [path for line in listed.splitlines() if (path := ROOT / line).is_file()]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def lines_of(path: Path) -> int:
    return len(path.read_text().splitlines())


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), filename=name_of(path))


PYTHON = tracked("*.py")
PACKAGE = [path for path in PYTHON if name_of(path).startswith("chronoshard/")]


def functions() -> Iterator[Function]:
    for path in PYTHON:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                yield Function(f"{name_of(path)}:{node.name}", node.end_lineno - node.lineno + 1)


def own_time(tree: ast.AST) -> Iterator[str]:
    """Yield what asks the system for time, for a pause or for chance, called or imported by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in FORBIDDEN_CALLS:
            forbidden = FORBIDDEN_CALLS[node.module]
            yield from (
                f"line {node.lineno}: from {node.module} import {alias.name}"
                for alias in node.names
                if (alias.name in forbidden or "*" in forbidden) and alias.name != "Random"
            )
        if isinstance(node, ast.Call) and not node.args and ast.unparse(node.func).endswith("Random"):
            yield f"line {node.lineno}: a generator without a seed"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
            forbidden = FORBIDDEN_CALLS.get(owner, set())
            if (node.attr in forbidden or "*" in forbidden) and node.attr != "Random":
                yield f"line {node.lineno}: {owner}.{node.attr}"


def test_no_file_is_longer_than_a_sitting() -> None:
    too_long = {name_of(path): lines_of(path) for path in PYTHON if lines_of(path) > FILE_LINES}

    assert LONG_FILES.keys() == too_long.keys(), too_long


def test_half_of_the_package_s_files_are_short() -> None:
    assert median(lines for path in PACKAGE if (lines := lines_of(path))) < FILE_LINES_MEDIAN


def test_no_function_is_longer_than_a_screen() -> None:
    too_long = {name: lines for name, lines in functions() if lines > FUNCTION_LINES}

    assert LONG_FUNCTIONS.keys() == too_long.keys(), too_long


def test_nearly_all_functions_are_short() -> None:
    lengths = [function.lines for function in functions()]

    assert sum(length < FUNCTION_LINES_USUAL for length in lengths) >= USUAL_SHARE * len(lengths)


def test_time_pauses_and_chance_come_from_outside() -> None:
    found = {
        name: uses
        for path in PYTHON
        if not (name := name_of(path)).startswith(tuple(OWN_TIME))
        if (uses := list(own_time(tree_of(path))))
    }

    assert {} == found


def test_every_exception_of_the_clock_is_still_needed() -> None:
    unused = [
        prefix
        for prefix in OWN_TIME
        if not any(name_of(path).startswith(prefix) and any(own_time(tree_of(path))) for path in PYTHON)
    ]

    assert [] == unused


@pytest.mark.parametrize(
    "code",
    [
        "import time\ntime.sleep(1)",
        "from time import sleep",
        "import datetime\ndatetime.datetime.now()",
        "from datetime import datetime\ndatetime.utcnow()",
        "from datetime import date\ndate.today()",
        "import random\nrandom.randint(1, 2)",
        "from random import choice",
        "import random\nrandom.Random()",
        "import time\nSystemClock(now=time.time)",
    ],
)
def test_own_time_is_seen_in_every_form(code: str) -> None:
    assert 1 == len(list(own_time(ast.parse(code))))


@pytest.mark.parametrize(
    "code",
    [
        "import time\ntime.monotonic()",
        "clock.now_ms()",
        "from datetime import datetime, UTC",
        "import random\nrandom.Random(7).random()",
    ],
)
def test_what_is_given_is_not_own_time(code: str) -> None:
    assert [] == list(own_time(ast.parse(code)))


def test_every_module_says_what_it_is_for() -> None:
    silent = [name_of(path) for path in PYTHON if (tree := tree_of(path)).body and ast.get_docstring(tree) is None]

    assert [] == silent


def test_nothing_of_ours_is_mocked() -> None:
    mocked = [name_of(path) for path in PYTHON if re.search(r"unittest(\.| import )mock", path.read_text())]

    assert [] == mocked


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("a mark of unfinished work", MARKS),
        ("a place on somebody's machine", PLACES),
        ("the address of a registry", REGISTRIES),
    ],
)
def test_no_tracked_file_holds(what: str, pattern: re.Pattern[str]) -> None:
    found = [
        f"{name_of(path)}:{number}: {line.strip()[:100]}"
        for path in tracked()
        if path != Path(__file__)
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]

    assert [] == found, what
