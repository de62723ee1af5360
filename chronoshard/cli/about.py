"""`whoami`, `version`, `completion`: about this program and its connection."""

from __future__ import annotations

from importlib.metadata import version as version_of
from typing import Literal

from chronoshard.cli.failures import Exit
from chronoshard.cli.output import Output, show
from chronoshard.cli.session import connect
from chronoshard.cli.table import pairs
from chronoshard.errors import ChronoshardError

PACKAGE = "chronoshard"


def whoami(*, output: Output = "table") -> int:
    """Show whose token this is, and what it may do.

    Examples:
      chronoshard whoami
    """
    with connect() as client:
        answer = client.whoami()
        url = client.url
    told = [("server", url), *answer.items()]
    show(answer, output, table=lambda: pairs(told), names=[str(answer.get("owner"))])
    return Exit.OK


def version(*, output: Output = "table") -> int:
    """Show the version of this program and, where one answers, of the server.

    Examples:
      chronoshard version -o json
    """
    here = own_version()
    try:
        with connect(patient=False) as client:
            server = client.version()
    except ChronoshardError:
        server = {}
    data = {"client": here, "server": server.get("version")}
    told = [("client", here), ("server", server.get("version") or "none answers")]
    show(data, output, table=lambda: pairs(told), names=[here])
    return Exit.OK


def completion(shell: Literal["bash", "zsh", "fish"], /) -> int:
    """Print the script that completes commands and options in your shell.

    Examples:
      chronoshard completion bash > ~/.local/share/bash-completion/completions/chronoshard
      chronoshard completion zsh > ~/.zfunc/_chronoshard
      chronoshard completion fish > ~/.config/fish/completions/chronoshard.fish

    Args:
        shell: which shell
    """
    from chronoshard.cli.parser import PROGRAM, build

    print(build().generate_completion(prog_name=PROGRAM, shell=shell))
    return Exit.OK


def own_version() -> str:
    """Return the version of the package that this program came with."""
    return version_of(PACKAGE)
