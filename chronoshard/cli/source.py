"""What a job runs, from the word that was typed or the file that a manifest names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from chronoshard.client import Client
from chronoshard.client.transport import Json
from chronoshard.errors import InvalidInput

RUNTIMES = {".py": "python", ".js": "javascript", ".mjs": "javascript", ".sh": "shell"}


class Code(NamedTuple):
    """A file's bytes and the runtime that they are for."""

    runtime: str
    content: bytes
    name: str

    def text(self) -> str | None:
        """Return the content as text, None where it is none: a program goes as a file."""
        if self.runtime == "binary":
            return None
        try:
            return self.content.decode()
        except UnicodeDecodeError:
            return None


def is_url(source: str) -> bool:
    return source.startswith(("http://", "https://"))


def read_code(path: Path, *, runtime: str | None = None, option: str = "SOURCE") -> Code:
    """Return a file as code; its runtime by its ending, or `binary` for what this machine could execute."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"cannot read {str(path)!r}: {(error.strerror or str(error)).lower()}",
            code="source.unreadable",
            pointer=option,
            hint="SOURCE is a .py, .js or .sh file, an executable, or an http(s) URL",
        ) from error
    return Code(runtime or _runtime_of(path, content, option), content, path.name)


def task_part(client: Client, code: Code, *, key: str | None = None) -> Json:
    """Return the part of a job's body that says what it runs, uploading what is no text."""
    text = code.text()
    if text is not None:
        return {"task": {"runtime": code.runtime, "source": text}}
    task = client.tasks.upload(code.runtime, code.content, name=code.name, key=key)
    return {"task_id": task["task_id"]}


def _runtime_of(path: Path, content: bytes, option: str) -> str:
    by_ending = RUNTIMES.get(path.suffix.lower())
    if by_ending is not None:
        return by_ending
    if content.startswith((b"#!", b"\x7fELF")) or os.access(path, os.X_OK):
        return "binary"
    raise InvalidInput(
        f"cannot tell how to run {path.name!r}",
        code="source.runtime",
        pointer=option,
        hint="name it .py, .js or .sh, make it executable (chmod +x), or say --runtime",
    )
