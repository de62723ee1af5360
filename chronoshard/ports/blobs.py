"""Where task code and output are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class Blobs(Protocol):
    """Named byte strings. A put is durable and whole when it returns; putting again replaces.

    Keys are relative, `/`-separated paths of letters, digits, `.`, `-`, `_`.
    """

    def put(self, key: str, data: bytes) -> None: ...

    def put_file(self, key: str, path: Path) -> None:
        """Store a file's content without reading it all into memory."""

    def get(self, key: str) -> bytes | None:
        """Return the whole content; None when there is no such blob."""

    def read(self, key: str, offset: int, limit: int) -> bytes | None:
        """Return up to `limit` bytes from `offset`; empty at or past the end; None when there is no such blob."""

    def size(self, key: str) -> int | None: ...

    def delete(self, key: str) -> None:
        """Remove it; harmless when it is not there."""
