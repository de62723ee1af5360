"""The table of all commands: the only place that lists them.

Each names where its function is, so that nothing of a command is imported before it is the one to run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chronoshard.errors import InvalidInput


class Command(NamedTuple):
    """`path` is what is typed, as in ("admin", "token", "create"); `target` is `module:function`."""

    path: tuple[str, ...]
    target: str
    summary: str

    @property
    def name(self) -> str:
        return " ".join(self.path)


def _command(name: str, target: str, summary: str) -> Command:
    return Command(tuple(name.split()), f"chronoshard.cli.{target}", summary)


GROUPS: dict[str, tuple[Command, ...]] = {
    "Start here": (
        _command("demo", "serving:demo", "see jobs run, fail, and survive a kill, in under a minute"),
        _command("up", "serving:up", "run a whole scheduler on this machine"),
        _command("submit", "submit:submit", "make a job of a script, a program or a URL"),
        _command("next", "upcoming:upcoming", "when a job or a cron expression runs next"),
    ),
    "Look": (
        _command("get jobs", "reading:jobs", "list jobs"),
        _command("get job", "reading:job", "one job, with -o yaml as a manifest"),
        _command("get runs", "reading:runs", "list runs, newest first"),
        _command("get nodes", "nodes:nodes", "the processes of the system"),
        _command("get shards", "nodes:shards", "who owns which shard"),
        _command("get queues", "nodes:queues", "what waits in the broker"),
        _command("describe", "describe:describe", "all about a job: schedule, next and last runs"),
        _command("history", "reading:history", "the runs of a job"),
        _command("logs", "logs:logs", "what a run printed"),
        _command("explain", "runs:explain", "why a run has not started, or what happened to it"),
        _command("wait", "runs:wait", "wait for a run to end; exit 0 only if it succeeded"),
    ),
    "Change": (
        _command("run", "runs:run", "run a job now"),
        _command("edit", "changing:edit", "change a job, by options or in your editor"),
        _command("pause", "changing:pause", "stop a job from running"),
        _command("resume", "changing:resume", "let a paused job run again"),
        _command("delete", "changing:delete", "delete a job; its history stays"),
        _command("cancel", "runs:cancel", "stop a run, or keep it from starting"),
        _command("retry", "runs:retry", "run a failed run once more"),
        _command("apply", "applying:apply", "make jobs be as a manifest says"),
        _command("diff", "applying:diff", "what apply would change; exit 1 if anything"),
    ),
    "Operate": (
        _command("start executor", "serving:executor", "one more executor for the server of a data directory"),
        _command("verify", "checking:verify", "prove that everything due was accounted for"),
        _command("doctor", "checking:doctor", "check the server, its machine and the way there"),
        _command("bench", "serving:bench", "measure this machine"),
        _command("admin token create", "tokens:create", "give somebody a token"),
        _command("admin token list", "tokens:list_", "who has a token"),
        _command("admin token revoke", "tokens:revoke", "take a token back"),
        _command("whoami", "about:whoami", "whose token this is, and its role"),
        _command("version", "about:version", "the version here and on the server"),
        _command("completion", "about:completion", "the script that completes commands in your shell"),
    ),
}

COMMANDS: tuple[Command, ...] = tuple(command for group in GROUPS.values() for command in group)


def under(prefix: tuple[str, ...]) -> tuple[Command, ...]:
    """Return the commands whose path begins with `prefix`."""
    return tuple(command for command in COMMANDS if command.path[: len(prefix)] == prefix)


def locate(tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the longest beginning of `tokens` that is a command or a group of commands.

    A word in a command's place that is none is refused, with the nearest one.
    """
    path: tuple[str, ...] = ()
    for token in tokens:
        choices = list(dict.fromkeys(command.path[len(path)] for command in under(path)))
        if token not in choices:
            raise _unknown(path, token, choices)
        path = (*path, token)
        if is_command(path):
            return path
    return path


def is_command(path: tuple[str, ...]) -> bool:
    return any(command.path == path for command in COMMANDS)


def command_at(path: tuple[str, ...]) -> Command:
    return next(command for command in COMMANDS if command.path == path)


def _unknown(path: tuple[str, ...], token: str, choices: Sequence[str]) -> InvalidInput:
    import difflib

    near = difflib.get_close_matches(token, choices, n=1)
    page = " ".join(("chronoshard", *path, "--help"))
    return InvalidInput(
        f"there is no command {' '.join((*path, token))!r}",
        code="usage.command",
        hint=(f"did you mean {' '.join((*path, near[0]))!r}? " if near else "") + f"`{page}` lists the commands",
    )
