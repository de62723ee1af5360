"""What `--help` prints: the overview without any library, a command's page from its function.

The overview must be instant (below 200 ms), so that it needs nothing but the table of commands.
"""

from __future__ import annotations

import inspect
import itertools
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chronoshard.cli.commands import GROUPS, Command, command_at, is_command, locate, under
from chronoshard.cli.table import pairs

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.argument import Argument

_OVERVIEW = """\
chronoshard: a job scheduler that never silently loses a run

Usage: chronoshard COMMAND ...
"""
_EXAMPLES = """\
Examples:
  chronoshard up
  chronoshard submit backup.sh --cron "0 3 * * *" --zone Europe/Berlin
  chronoshard get jobs

`chronoshard COMMAND --help` explains a command. Settings: CHRONOSHARD_URL, CHRONOSHARD_TOKEN; neither is needed
on the machine where `chronoshard up` runs. Exit codes: 0 ok, 1 what was asked about failed, 2 usage or invalid input,
3 not found, 4 conflict, 5 no server reachable, 6 not allowed."""


def overview() -> str:
    """Return the page of the program itself."""
    blocks = [_OVERVIEW]
    for title, commands in GROUPS.items():
        blocks.append(f"{title}:\n{_listed(commands)}\n")
    return "\n".join([*blocks, _EXAMPLES])


def page(tokens: Sequence[str]) -> str:
    """Return the page of the command, or group of commands, that the words begin with."""
    words = list(itertools.takewhile(lambda token: not token.startswith("-"), tokens))
    path = locate(words)
    if not path:
        return overview()
    if not is_command(path):
        return f"Usage: chronoshard {' '.join(path)} COMMAND ...\n\n{_listed(under(path))}"
    return _command_page(command_at(path))


def _listed(commands: Sequence[Command]) -> str:
    return textwrap.indent(pairs([(command.name, command.summary) for command in commands]), "  ")


def _command_page(command: Command) -> str:
    from chronoshard.cli.parser import build

    apps = build().parse_commands(list(command.path))[1]
    arguments = [
        argument for argument in apps[-1].assemble_argument_collection(parse_docstring=True) if argument.show
    ]
    positional = [argument for argument in arguments if not argument.names[0].startswith("-")]
    options = [argument for argument in arguments if argument.names[0].startswith("-")]
    words = " ".join([*(_usage_word(argument) for argument in positional), *(["[OPTIONS]"] if options else [])])
    blocks = [f"Usage: chronoshard {command.name} {words}".rstrip(), _prose(apps[-1])]
    if positional:
        blocks.append(_block("Arguments", positional))
    if options:
        blocks.append(_block("Options", options))
    blocks.append(_examples(apps[-1]))
    return "\n\n".join(block for block in blocks if block)


def _block(title: str, arguments: Sequence[Argument]) -> str:
    entries = [(_label(argument), _meaning(argument)) for argument in arguments]
    return f"{title}:\n" + textwrap.indent(pairs(entries), "  ")


def _usage_word(argument: Argument) -> str:
    return argument.names[0] if argument.required else f"[{argument.names[0]}]"


def _label(argument: Argument) -> str:
    names = sorted(argument.names, key=len)
    if not names[0].startswith("-") or argument.hint is bool:
        return ", ".join(names)
    return f"{', '.join(names)} {names[-1].rpartition('-')[2].upper()}"


def _meaning(argument: Argument) -> list[str]:
    text = str(argument.parameter.help or "").strip()
    choices = argument.get_choices()
    if choices:
        text = f"{text} ({', '.join(choices)})"
    default = argument.field_info.default
    if isinstance(default, int | str) and not isinstance(default, bool) and default != "":
        text = f"{text} [default: {default}]"
    elif argument.required:
        text = f"{text} [required]"
    return textwrap.wrap(text, 78) or [""]


def _docstring(app: App) -> str:
    return inspect.getdoc(app.default_command) or ""


def _prose(app: App) -> str:
    return _docstring(app).split("\nExamples:")[0].split("\nArgs:")[0].strip()


def _examples(app: App) -> str:
    """Return the docstring's section `Examples:`, as it stands there."""
    rest = _docstring(app).partition("\nExamples:")[2].partition("\n\nArgs:")[0].strip("\n")
    return "Examples:\n" + textwrap.indent(textwrap.dedent(rest), "  ") if rest else ""
