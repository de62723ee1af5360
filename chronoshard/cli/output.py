"""Printing data: as a table for people, JSON or YAML for programs, names for `xargs`.

Colour only ever goes to a terminal, and to none that asks for none (NO_COLOR, TERM=dumb).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, TextIO

from cyclopts import Parameter

from chronoshard.cli.table import Paint

Format = Literal["table", "json", "yaml", "name"]
Output = Annotated[Format, Parameter(name=["--output", "-o"], help="how to print what is found")]

_BY_WORD = {
    "succeeded": "32",
    "ok": "32",
    "failed": "31",
    "timed_out": "31",
    "lost": "31",
    "running": "36",
    "retrying": "33",
    "pending": "33",
    "disabled": "33",
    "skipped": "2",
    "cancelled": "2",
    "finished": "2",
}


def show(data: object, output: Format, *, table: Callable[[], str], names: Iterable[str]) -> None:
    """Print `data` in the wanted form; `table` is only called when it is the one."""
    if output == "json":
        text = as_json(data)
    elif output == "yaml":
        text = as_yaml(data).rstrip("\n")
    elif output == "name":
        text = "\n".join(names)
    else:
        text = table()
    if text:
        print(text)


def as_json(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False)


def as_yaml(data: object) -> str:
    """Return one YAML document, keys in their order, texts of several lines as blocks."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """A dumper of our own: representers are registered on the class."""

    Dumper.add_representer(str, _represent_text)
    return yaml.dump(data, Dumper=Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False)


def _represent_text(dumper: Any, text: str) -> Any:
    style = "|" if "\n" in text else None
    if not text.replace("\n", "").replace("\t", "").isprintable():
        style = '"'  # other line breaks and the like only survive as escapes
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def colours(stream: TextIO | None = None, environ: Mapping[str, str] | None = None) -> bool:
    """Whether what is printed to `stream` may have colours."""
    env = os.environ if environ is None else environ
    return (stream or sys.stdout).isatty() and not env.get("NO_COLOR") and env.get("TERM") != "dumb"


def state_paint(column: int) -> Paint | None:
    """Return what colours the states in a column, None where there are no colours."""
    if not colours():
        return None

    def paint(at: int, cell: str, padded: str) -> str:
        colour = _BY_WORD.get(cell) if at == column else None
        return padded if colour is None else f"\x1b[{colour}m{padded}\x1b[0m"

    return paint
