"""Aligned columns without borders: readable by people, cut and awk.

A cell is one line whatever it holds: control characters are shown, not obeyed, so that no text from a task or a
server moves the reader's cursor.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

_GAP = "  "

Paint = Callable[[int, str, str], str]  # column, cell, padded cell -> what is printed


def render(header: Sequence[str], rows: Sequence[Sequence[object]], paint: Paint | None = None) -> str:
    """Return the lines of a table, header first; an empty cell is shown as `-`."""
    cells = [list(header), *([_cell(value) for value in row] for row in rows)]
    widths = [max(width(row[column]) for row in cells) for column in range(len(header))]
    lines = []
    for number, row in enumerate(cells):
        padded = [text + " " * (widths[column] - width(text)) for column, text in enumerate(row)]
        if paint is not None and number > 0:
            padded = [paint(column, row[column], text) for column, text in enumerate(padded)]
        lines.append(_GAP.join(padded).rstrip())
    return "\n".join(lines)


def pairs(entries: Sequence[tuple[str, object]]) -> str:
    """Return `label  value` lines, the values aligned; a value of several lines is indented under itself."""
    label_width = max((len(label) for label, _ in entries), default=0)
    indent = " " * (label_width + len(_GAP))
    lines = []
    for label, value in entries:
        first, *more = _lines(value)
        lines.append(f"{label.ljust(label_width)}{_GAP}{first}".rstrip())
        lines.extend(f"{indent}{line}".rstrip() for line in more)
    return "\n".join(lines)


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(_char_width(char) for char in text)


def printable(text: str) -> str:
    """Return the text with every control character written out."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _lines(value: object) -> list[str]:
    if isinstance(value, list | tuple):
        return [_cell(entry) for entry in value] or ["-"]
    return [_cell(value)]


def _cell(value: object) -> str:
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return printable(str(value))


def _char_width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
