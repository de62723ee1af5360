"""`up`, `demo`, `bench`: the commands that run the scheduler itself. The server is only imported by them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

HOST = "127.0.0.1"
PORT = 8480


def up(*, data: Path | None = None, host: str = HOST, port: int = PORT) -> int:
    """Run a whole scheduler in this process until Ctrl-C or SIGTERM. State survives in the data directory.

    Examples:
      chronoshard up
      chronoshard up --data ./data --port 9000

    Args:
        data: where everything is kept; ~/.local/share/chronoshard without
        host: the address to listen on; 127.0.0.1 cannot be reached from other machines
        port: 0 takes a free one
    """
    from chronoshard.compose import up as serve

    return serve(data or _default_data(), host, port)


def executor(*, name: str, data: Path | None = None, slots: int = 16) -> int:
    """Run one more executor for the server of a data directory, in a process of its own.

    Examples:
      chronoshard start executor --name e2
      chronoshard start executor --name e2 --data ./data --slots 32

    Args:
        name: what it is known by; starting it again under the same name ends what the last one left
        data: the data directory of the server
        slots: how many attempts it runs at once
    """
    from chronoshard.compose import executor as serve

    return serve(name, data or _default_data(), slots)


def demo() -> int:
    """Show the whole thing at work on a scratch directory; ends by itself in under a minute.

    Exit 0 only if everything was as it should be.

    Examples:
      chronoshard demo
    """
    from chronoshard.demo import main as show

    return show()


def bench(*arguments: Annotated[str, Parameter(allow_leading_hyphen=True, name="ARGUMENTS")]) -> int:
    """Measure what this machine does, on scratch directories.

    Examples:
      chronoshard bench
      chronoshard bench drain lateness --json

    Args:
        arguments: which of drain, lateness, submit and stored, all without; --json for a program
    """
    from chronoshard.bench import main as measure

    return measure(list(arguments))


def _default_data() -> Path:
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "chronoshard"
