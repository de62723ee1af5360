"""Results on disk until they are accepted: they survive the executor, and are sent first by its next life.

One file per batch, written, synced and renamed as a whole: a batch is there or it is not.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
import structlog

from chronoshard.link import Result

log = structlog.get_logger(__name__)


class Spooled(msgspec.Struct, omit_defaults=True):
    """A result, and the directory (below that of lives) whose output has to be stored before it is sent."""

    result: Result
    output: str = ""


class Batch:
    """One file, removed when the last of its results is accepted. `path` None: it is only in memory."""

    def __init__(self, path: Path | None, items: Sequence[Spooled]) -> None:
        self.path = path
        self.items = items
        self.open = len(items)


class Spool:
    """Used by one thread at a time."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self._encoder = msgspec.json.Encoder()
        self._next = 1 + max((int(path.stem) for path in directory.glob("*.json")), default=0)

    def write(self, items: Sequence[Spooled]) -> Batch:
        """Make a batch durable. Raises OSError when the disk does not take it."""
        path = self._directory / f"{self._next:012d}.json"
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            file.write(self._encoder.encode(items))
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
        self._next += 1
        return Batch(path, items)

    def load(self) -> list[Batch]:
        """Return what an earlier life left, oldest first. What cannot be read is put aside, loudly."""
        batches = []
        for path in sorted(self._directory.glob("*.json")):
            try:
                items = msgspec.json.decode(path.read_bytes(), type=list[Spooled])
            except msgspec.DecodeError as error:
                log.error("executor.spool_damaged", path=str(path), error=str(error))
                path.rename(path.with_suffix(".damaged"))
                continue
            batches.append(Batch(path, items))
        return batches

    def accepted(self, batch: Batch) -> None:
        """Count one result of the batch as accepted."""
        batch.open -= 1
        if batch.open == 0 and batch.path is not None:
            batch.path.unlink(missing_ok=True)
