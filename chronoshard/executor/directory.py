"""The directory in which an executor keeps what must survive it: one executor at a time.

lock                 held while an executor uses the directory
lives/INCARNATION/   processes/ (see leftovers.py) and attempts/ (output until it is accepted)
results/             the spool
tasks/               code
users/               for the sandbox
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
from pathlib import Path

from chronoshard.errors import Conflict


class DataDirectory:
    """Raises Conflict when another executor uses it."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root = root.resolve()
        self._lock = (root / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise Conflict(
                f"another executor uses {root}",
                code="executor.directory_in_use",
                hint="give each executor a data directory of its own",
            ) from None
        self.lives.mkdir(exist_ok=True)

    @property
    def lives(self) -> Path:
        return self.root / "lives"

    @property
    def results(self) -> Path:
        return self.root / "results"

    @property
    def tasks(self) -> Path:
        return self.root / "tasks"

    @property
    def users(self) -> Path:
        return self.root / "users"

    @property
    def group(self) -> str:
        """Return the name of this executor's control group: no two directories of a machine share one."""
        return f"chronoshard-{hashlib.sha256(str(self.root).encode()).hexdigest()[:16]}"

    def new_incarnation(self, now_ms: int) -> str:
        """Return an id that sorts after those of all lives before, whatever the clock has done."""
        last = max((int(path.name, 16) for path in self.lives.iterdir()), default=0)
        incarnation = f"{max(now_ms, last + 1):012x}"
        (self.lives / incarnation).mkdir()
        return incarnation

    def forget_lives(self, but: str) -> None:
        """Remove what earlier lives left, when all their results are accepted."""
        for path in self.lives.iterdir():
            if path.name != but:
                shutil.rmtree(path, ignore_errors=True)

    def close(self) -> None:
        self._lock.close()
