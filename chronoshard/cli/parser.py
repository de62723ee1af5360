"""From the words of a command line to the call of one command's function.

cyclopts binds words to arguments; what it refuses becomes an error of ours, so that a typing mistake looks and
exits like every other invalid input.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cyclopts import App, CycloptsError

from chronoshard.cli.commands import COMMANDS, is_command, locate, under
from chronoshard.errors import InvalidInput

PROGRAM = "chronoshard"
_COMMAND_PREFIX = re.compile(r'^Command "[^"]*" ')


def build() -> App:
    """Return the parser of all commands; none of their modules is imported yet."""
    app = _app(PROGRAM)
    groups: dict[tuple[str, ...], App] = {(): app}
    for command in COMMANDS:
        for depth in range(1, len(command.path)):
            prefix = command.path[:depth]
            if prefix not in groups:
                groups[prefix] = _app(prefix[-1])
                groups[prefix[:-1]].command(groups[prefix])
        groups[command.path[:-1]].command(command.target, name=command.path[-1], help=command.summary)
    return app


def run(tokens: Sequence[str]) -> int:
    """Run what the words say and return its exit code."""
    path = locate(tokens)
    if not is_command(path):
        raise _incomplete(path)
    try:
        call, bound, _ = build().parse_args(list(tokens))
    except CycloptsError as error:
        raise _refusal(error, path) from None
    return int(call(*bound.args, **bound.kwargs) or 0)


def _refusal(error: CycloptsError, path: tuple[str, ...]) -> InvalidInput:
    """Return what cyclopts refused as ours."""
    detail = _COMMAND_PREFIX.sub("", str(error))
    return InvalidInput(
        detail[:1].lower() + detail[1:],
        code="usage",
        hint=f"`{' '.join((PROGRAM, *path))} --help` shows what it takes",
    )


def _incomplete(path: tuple[str, ...]) -> InvalidInput:
    choices = ", ".join(dict.fromkeys(command.path[len(path)] for command in under(path)))
    words = " ".join((PROGRAM, *path))
    return InvalidInput(
        f"{words} needs one of: {choices}", code="usage", hint=f"`{words} --help` says what each does"
    )


def _app(name: str) -> App:
    return App(
        name=name,
        help_flags=(),
        version_flags=(),
        exit_on_error=False,
        print_error=False,
        result_action="return_value",
    )
