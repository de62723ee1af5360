"""What SQLite says when it fails, in words that help.

A failure is never half a write: the transaction it happened in has been rolled back. Only a COMMIT that the disk did
not confirm has an unknown outcome.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import NamedTuple

from chronoshard.errors import OutcomeUnknown, Unavailable

PRIMARY = 0xFF  # extended result codes carry the primary one in their lowest byte


class Failure(NamedTuple):
    code: str
    what: str
    hint: str


FAILURES = {
    sqlite3.SQLITE_FULL: Failure(
        "store.full", "the disk is full", "free some space on that file system, then ask again"
    ),
    sqlite3.SQLITE_READONLY: Failure(
        "store.read_only", "it cannot be written to", "check the owner and mode of the file and its directory"
    ),
    sqlite3.SQLITE_PERM: Failure(
        "store.permission", "access is denied", "check the owner and mode of the file and its directory"
    ),
    sqlite3.SQLITE_CANTOPEN: Failure(
        "store.open", "it cannot be opened", "check that the directory is there and may be written to"
    ),
    sqlite3.SQLITE_BUSY: Failure(
        "store.busy", "another program is writing to it", "stop the other program, then ask again"
    ),
    sqlite3.SQLITE_IOERR: Failure(
        "store.io", "the disk reports an error", "look at the system's log for what is wrong with the disk"
    ),
    sqlite3.SQLITE_CORRUPT: Failure(
        "store.corrupt", "its content is damaged", "put back a copy, or try `sqlite3 FILE .recover`"
    ),
    sqlite3.SQLITE_NOTADB: Failure(
        "store.corrupt", "it is not a database", "name another file, or put back a copy of this one"
    ),
}


def unavailable(error: sqlite3.Error, path: Path, *, committing: bool = False) -> Unavailable | None:
    """Return what callers are told about a failure of the file at `path`; None for a mistake of ours."""
    code = getattr(error, "sqlite_errorcode", None)
    failure = FAILURES.get(code & PRIMARY) if code is not None else None
    if failure is None:
        return None
    detail = f"the store {path}: {failure.what} ({error})"
    if committing and code is not None and code & PRIMARY == sqlite3.SQLITE_IOERR:
        return OutcomeUnknown(detail, hint=failure.hint)
    return Unavailable(detail, code=failure.code, hint=failure.hint)
