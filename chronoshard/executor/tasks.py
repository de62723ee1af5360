"""Task code on local disk, fetched once from the blob store and checked against its name.

A task's id is the hash of its content, so that what runs is what was uploaded, whoever kept it in between.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from threading import Lock

from chronoshard.errors import InvalidInput, NotFound
from chronoshard.ports.blobs import Blobs

CACHE_BYTES = 512 * 1024 * 1024
_PREFIX = "sha256:"


class Tasks:
    """A bounded directory of code files, the least recently used go first. Safe for several threads."""

    def __init__(self, blobs: Blobs, directory: Path, *, limit_bytes: int = CACHE_BYTES) -> None:
        self._blobs = blobs
        self._directory = directory
        self._limit_bytes = limit_bytes
        self._checked: dict[str, int] = {}  # name to size, the least recently used first
        self._lock = Lock()
        directory.mkdir(parents=True, exist_ok=True)
        kept = list(directory.iterdir())  # of earlier lives: checked again before they are used
        if sum(path.stat().st_size for path in kept) > limit_bytes:
            for path in kept:
                path.unlink()

    def path(self, task_id: str, *, runtime: str, suffix: str) -> Path:
        """Return the file with the code, executable, unchanged until much else has been used.

        Raises NotFound (`task.missing`), InvalidInput (`task.corrupt`: not what its id says), Unavailable.
        """
        name = task_id.removeprefix(_PREFIX) + suffix
        path = self._directory / name
        with self._lock:
            if name in self._checked:
                self._checked[name] = self._checked.pop(name)
                return path
        source = self._local(path, task_id, runtime)
        if source is None:
            source = self._fetch(task_id, runtime)
            self._write(path, source)
        with self._lock:
            self._checked[name] = len(source)
            self._evict()
        return path

    def source(self, task_id: str, *, runtime: str) -> bytes:
        """Return the code itself; for tasks that need no file. Raises as `path`."""
        return self._fetch(task_id, runtime)

    def _local(self, path: Path, task_id: str, runtime: str) -> bytes | None:
        """Return what an earlier life fetched, if it is still what its name says."""
        try:
            source = path.read_bytes()
        except OSError:
            return None
        return source if _id_of(runtime.encode() + b"\n" + source) == task_id else None

    def _fetch(self, task_id: str, runtime: str) -> bytes:
        blob = self._blobs.get(f"tasks/{task_id.removeprefix(_PREFIX)}")
        if blob is None:
            raise NotFound(f"the code of {task_id} is not in the blob store", code="task.missing")
        if _id_of(blob) != task_id:
            raise InvalidInput(f"the stored code of {task_id} has another hash", code="task.corrupt")
        kind, _, source = blob.partition(b"\n")
        if kind.decode(errors="replace") != runtime:
            raise InvalidInput(f"{task_id} was not uploaded for runtime {runtime}", code="task.corrupt")
        return source

    def _write(self, path: Path, source: bytes) -> None:
        """Put the file in place as a whole: another thread may be fetching the same one."""
        part = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
        part.write_bytes(source)
        part.chmod(0o755)
        part.rename(path)

    def _evict(self) -> None:
        size = sum(self._checked.values())
        for name in list(self._checked)[:-1]:
            if size <= self._limit_bytes:
                return
            size -= self._checked.pop(name)
            (self._directory / name).unlink(missing_ok=True)


def _id_of(blob: bytes) -> str:
    return _PREFIX + hashlib.sha256(blob).hexdigest()
