"""One program at a time: the lock on the store's file, held by a file beside it.

SQLite itself would let two programs write in turn, and each would take the other's rows for its own. The system
drops the lock when the process is gone, however it went.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from chronoshard.errors import Unavailable


class Guard:
    def __init__(self, database: Path) -> None:
        """Take the lock; raise Unavailable (store.in_use) when another program, or another store here, has it."""
        path = database.with_name(database.name + ".lock")
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise Unavailable(
                f"the store {database} cannot be opened: {error.strerror} ({path})",
                code="store.open",
                hint="check that the directory is there and may be written to",
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._file, 32, 0).decode(errors="replace").strip()
            os.close(self._file)
            raise Unavailable(
                f"the store {database} is in use by process {holder or 'unknown'}",
                code="store.in_use",
                hint="stop that process, or use another data directory",
            ) from error
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        os.close(self._file)
