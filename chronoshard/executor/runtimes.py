"""Which kinds of tasks this machine can run, and with which command.

Found once, at start. What is not there is not offered, and an order for it is refused with a reason.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import msgspec

from chronoshard.errors import InvalidInput
from chronoshard.executor import http_call

BUILTIN = "builtin"
HTTP = "http"
_DENO = "run --quiet --no-prompt --no-remote --no-npm --no-config --allow-env --allow-read=. --allow-write=."
_ADVICE = {
    "javascript": "install it with chronoshard[javascript], or put deno, node or bun on the executor's PATH"
}


class Runtime(msgspec.Struct, frozen=True):
    """How one kind of task is run: `command`, then the file with its code, named with `suffix`.

    `network_flags` are added for a task that is allowed a network, `readable` are host paths that it needs,
    `variables` are set for it; `{temporary}` in them stands for its directory of temporary files.
    """

    name: str
    command: tuple[str, ...]
    suffix: str
    readable: tuple[str, ...] = ()
    network_flags: tuple[str, ...] = ()
    variables: dict[str, str] = {}

    def argv(self, code: str, *, network: bool) -> list[str]:
        return [*self.command, *(self.network_flags if network else ()), code]


class Runtimes:
    """The runtimes that are here; `builtin` needs no process and is always one of them."""

    def __init__(self, found: dict[str, Runtime]) -> None:
        self._found = found

    @property
    def names(self) -> list[str]:
        return sorted([*self._found, BUILTIN])

    @property
    def readable(self) -> list[str]:
        """Host paths that the runtimes need, to be shown in every sandbox."""
        return [path for runtime in self._found.values() for path in runtime.readable]

    def get(self, name: str) -> Runtime:
        """Return the runtime; raise InvalidInput (`runtime.missing`) when it is not here."""
        if name not in self._found:
            raise InvalidInput(
                f"this executor has no runtime {name}", code="runtime.missing", hint=_ADVICE.get(name)
            )
        return self._found[name]


def find_runtimes() -> Runtimes:
    """Look for every runtime on this machine."""
    python = _python()
    found = [
        python,
        Runtime(HTTP, python.command, python.suffix, python.readable),
        Runtime("binary", (), ""),
        *_javascript(),
    ]
    if shell := shutil.which("bash") or shutil.which("sh"):
        found.append(Runtime("shell", (shell,), ".sh"))
    return Runtimes({runtime.name: runtime for runtime in found})


def http_program() -> Path:
    """Return the code of runtime `http`: a Python program of ours."""
    return Path(http_call.__file__)


def _python() -> Runtime:
    """The interpreter that runs us, without our packages, unbuffered so that its output can be followed."""
    base: str = getattr(sys, "_base_executable", sys.executable)  # ours may be a virtual environment's
    program = os.path.realpath(base)
    readable = (os.path.realpath(sys.base_prefix), os.path.realpath(sys.base_exec_prefix), program)
    return Runtime("python", (program, "-I", "-B", "-u"), ".py", tuple(dict.fromkeys(readable)))


def _javascript() -> Iterator[Runtime]:
    """Deno from its wheel, else what is on the PATH. Code is a module (`.mjs`) in all of them."""
    deno = _deno() or shutil.which("deno")
    if deno:
        deno = os.path.realpath(deno)
        variables = {"DENO_DIR": "{temporary}/.deno", "DENO_NO_UPDATE_CHECK": "1"}
        yield Runtime("javascript", (deno, *_DENO.split()), ".mjs", (deno,), ("--allow-net",), variables)
    elif other := shutil.which("node") or shutil.which("bun"):
        other = os.path.realpath(other)
        yield Runtime("javascript", (other,), ".mjs", (other,))


def _deno() -> str | None:
    """Return the program of the installed wheel."""
    if find_spec("deno") is None:
        return None
    from deno import find_deno_bin  # type: ignore[import-untyped]  # the wheel has no types

    try:
        return str(find_deno_bin())
    except FileNotFoundError:
        return None
