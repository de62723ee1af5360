"""Help is there for every command, with an example, and costs nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest

from chronoshard.cli.__main__ import main
from chronoshard.cli.commands import COMMANDS, Command

HEAVY = {"httpx", "fastapi", "croniter", "yaml", "msgspec", "rich", "uvicorn", "chronoshard.compose"}


def loaded_by(*lines: Sequence[str]) -> set[str]:
    """Return the modules in a process that has run these command lines."""
    calls = "; ".join(f"main({list(words)})" for words in lines)
    code = f"import sys; from chronoshard.cli.__main__ import main; {calls}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_has_a_page_with_an_example(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main([*command.path, "--help"])

    page = capsys.readouterr().out
    assert page.startswith(f"Usage: chronoshard {command.name}")
    examples = page.partition("\nExamples:\n")[2]
    assert f"chronoshard {command.name}" in examples


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_option_says_what_it_is_for(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    main([*command.path, "-h"])

    page = capsys.readouterr().out
    silent = [line for line in page.splitlines() if line.startswith("  -") and "  " not in line.strip()]
    assert [] == silent


def test_the_overview_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["--help"])

    page = capsys.readouterr().out
    assert [] == [command.name for command in COMMANDS if f"  {command.name}  " not in page]


@pytest.mark.parametrize("words", [[], ["help"], ["-h"]])
def test_nothing_said_is_answered_with_the_overview(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"])
    overview = capsys.readouterr().out

    assert 0 == main(words)
    assert overview == capsys.readouterr().out


def test_help_of_a_group_lists_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["help", "admin", "token"])

    assert ["create", "list", "revoke"] == [
        line.split()[2] for line in capsys.readouterr().out.splitlines() if line.startswith("  admin token")
    ]


def test_help_for_what_is_no_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["sbmit", "--help"])

    assert "did you mean 'submit'?" in capsys.readouterr().err


def test_the_overview_loads_nothing_heavy() -> None:
    loaded = loaded_by(["--help"])

    assert set() == loaded.intersection(HEAVY | {"cyclopts"})


def test_a_command_s_page_loads_no_server_and_no_engine() -> None:
    """All pages, one after the other: whatever one of them loads is found at the end."""
    loaded = loaded_by(*([*command.path, "--help"] for command in COMMANDS))

    assert set() == loaded.intersection(HEAVY)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_the_commands(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["completion", shell])

    script = capsys.readouterr().out
    assert [] == [command.path[-1] for command in COMMANDS if command.path[-1] not in script]
