"""Where task code and output are kept: any store that obstore knows, in the embedded form a local directory.

A put is durable and whole when it returns. An object store such as S3 promises that by itself. obstore's local
store does not: it writes `KEY#1`, renames it, and never calls fsync, nor can it be told to (0.12; seen by strace).
So a local put goes to a name that no key can have, is synced there, renamed, and the directories on the way are
synced: after a power cut there is the old content or the new, never half of one.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, ObjectStore

from chronoshard.errors import InvalidInput, NotFound, Unavailable

MAX_KEY = 512  # characters; S3 ends at 1024 bytes, a store's own prefix included
MAX_SEGMENT = 200  # characters; file systems end at 255 bytes, obstore's own suffix included
STAGED = "+staged"  # `+` is in no key
MAX_FOLDERS_KNOWN = 10_000  # beyond that they are synced once more, which only costs time
STAGED_FOR_S = 86_400.0  # nobody uploads for a day: what is older was left behind by a process that died

_SEGMENT = re.compile(rf"(?!\.{{1,2}}$)[A-Za-z0-9._-]{{1,{MAX_SEGMENT}}}")


class ObstoreBlobs:
    """Blobs in `store`. Whoever has a local directory takes `ObstoreBlobs.local`, which makes it durable."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._directory: Path | None = None
        self._durable_folders: set[Path] = set()  # those whose own entry is known to be on disk

    @classmethod
    def local(cls, directory: Path) -> ObstoreBlobs:
        """Keep blobs as files under `directory`, which is made if it is not there. Several processes may."""
        with _answered("open", str(directory)):
            blobs = cls(LocalStore(directory, mkdir=True))
            blobs._directory = directory
            _forget_staged(directory / STAGED)
        return blobs

    def put(self, key: str, data: bytes) -> None:
        _check(key)
        with _answered("put", key):
            self._put(key, data)

    def put_file(self, key: str, path: Path) -> None:
        """Store a file's content without reading it all into memory."""
        _check(key)
        try:
            source = path.open("rb")
        except OSError as error:
            raise NotFound(f"cannot read {path} to store it: {error.strerror}", code="blob.source") from error
        with source, _answered("put", key):
            self._put(key, source)

    def get(self, key: str) -> bytes | None:
        _check(key)
        with _answered("get", key):
            try:
                return bytes(obstore.get(self._store, key).bytes())
            except FileNotFoundError:
                return None

    def read(self, key: str, offset: int, limit: int) -> bytes | None:
        """Return up to `limit` bytes from `offset`."""
        _check(key)
        with _answered("read", key):
            try:
                if offset < obstore.head(self._store, key)["size"] and limit > 0:
                    return bytes(obstore.get_range(self._store, key, start=offset, length=limit))
            except FileNotFoundError:
                return None
        return b""

    def size(self, key: str) -> int | None:
        _check(key)
        with _answered("size", key):
            try:
                return obstore.head(self._store, key)["size"]
            except FileNotFoundError:
                return None

    def delete(self, key: str) -> None:
        _check(key)
        with _answered("delete", key):
            try:
                obstore.delete(self._store, key)
            except FileNotFoundError:
                return

    def _put(self, key: str, data: bytes | IO[bytes]) -> None:
        if self._directory is None:
            obstore.put(self._store, key, data)
            return
        staged = f"{STAGED}/{uuid.uuid4().hex}"
        try:
            obstore.put(self._store, staged, data)
            _sync(self._directory / staged)
            obstore.rename(self._store, staged, key)
        except BaseException:
            (self._directory / staged).unlink(missing_ok=True)
            raise
        self._sync_way_to(self._directory, Path(key))

    def _sync_way_to(self, root: Path, key: Path) -> None:
        """Sync the directory that holds the file, and above it those whose entry may be new."""
        _sync(root / key.parent)
        for folder in list(key.parents)[:-1]:
            if folder in self._durable_folders:
                break
            _sync(root / folder.parent)
            if len(self._durable_folders) >= MAX_FOLDERS_KNOWN:
                self._durable_folders.clear()
            self._durable_folders.add(folder)


def _check(key: str) -> None:
    if len(key) > MAX_KEY or not all(_SEGMENT.fullmatch(segment) for segment in key.split("/")):
        raise InvalidInput(
            f"no key of a blob: {key[:80]!r}",
            code="blob.key",
            hint=f"a relative path of letters, digits, '.', '-', '_', each part at most {MAX_SEGMENT} long",
        )


@contextmanager
def _answered(what: str, where: str) -> Iterator[None]:
    """Translate what the store and the file system may raise; the cause stays readable."""
    try:
        yield
    except (BaseError, OSError) as error:
        cause = str(error).partition("\n")[0]  # obstore adds its internals below the first line
        raise Unavailable(f"blob store: cannot {what} {where}: {cause}", code="unavailable.blobs") from error


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _forget_staged(folder: Path) -> None:
    """Remove what dead processes left behind, by the file system's own clock."""
    folder.mkdir(exist_ok=True)
    os.utime(folder)
    now_s = folder.stat().st_mtime
    for staged in folder.iterdir():
        try:
            if now_s - staged.stat().st_mtime > STAGED_FOR_S:
                staged.unlink()
        except FileNotFoundError:
            continue  # another process was faster, or has just finished it
