"""Who leads, who is there, who has what, inside one process; what has to outlive it lies in one small file.

Nothing is answered before it is on disk: a term's number, the watermark, a condemnation. How long a condemnation
has been durable is counted by the monotonic clock, after a restart from the reading of the file on, so that a wall
clock that jumps lets nobody be called LOST too early (invariants 4 and 10).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path

import msgspec

from chronoshard.clock import Clock
from chronoshard.domain.liveness import Incarnation
from chronoshard.errors import TermOver, Unavailable
from chronoshard.ports import Assignments, Member, Term, Tick

VERSION = 1
CONDEMNED_FOR_MS = 86_400_000  # kept for a day: long after whatever it ran has been taken from it
CONDEMNED_AT_LEAST_S = 3_600.0  # by the monotonic clock: a wall clock that jumps by a day forgives nobody


class Condemnation(msgspec.Struct, frozen=True, array_like=True):
    """`at_ms` is wall time and only decides when the entry may be forgotten."""

    executor: str
    incarnation: str
    at_ms: int

    @property
    def whom(self) -> Incarnation:
        return Incarnation(self.executor, self.incarnation)


class Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the file."""

    version: int = VERSION
    term: int = 0
    watermark: int | None = None
    condemned: tuple[Condemnation, ...] = ()


class LocalTerm:
    """The time one master leads; every write asks under the one lock whether it still does."""

    def __init__(self, coordination: LocalCoordination, number: int) -> None:
        self._coordination = coordination
        self._number = number

    @property
    def number(self) -> int:
        return self._number

    def assign(self, assignments: Assignments) -> None:
        self._coordination.assign(self, assignments)

    def tick(self, tick: Tick) -> None:
        self._coordination.tick(self, tick)

    def advance_watermark(self, minute: int) -> None:
        self._coordination.advance_watermark(self, minute)

    def trusted(self) -> bool:
        return self._coordination.leads(self)

    def resign(self) -> None:
        self._coordination.expire(self)


class LocalCoordination:
    """Implements Coordination. With `path` None nothing outlives the object."""

    def __init__(self, path: Path | None, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._changed = threading.Condition()
        self._version = 0
        self._members: dict[tuple[str, str], Member] = {}
        self._leading: LocalTerm | None = None
        self._assignments = Assignments()
        self._last_tick: Tick | None = None
        self._kept = Kept() if path is None else _read(path)
        read_s = clock.monotonic_s()
        self._condemned_s = {c.whom: read_s for c in self._kept.condemned}

    def join(self, member: Member) -> None:
        with self._changed:
            if self._members.get((member.part, member.name)) != member:
                self._members[member.part, member.name] = member
                self._tell()

    def leave(self, member: Member) -> None:
        with self._changed:
            if self._members.pop((member.part, member.name), None) is not None:
                self._tell()

    def members(self, part: str) -> list[Member]:
        """Return the live ones, by name."""
        with self._changed:
            return [member for key, member in sorted(self._members.items()) if key[0] == part]

    def campaign(self, name: str) -> Term | None:
        """Return a new term, numbered above every earlier one, when nobody leads; None otherwise."""
        with self._changed:
            if self._leading is not None:
                return None
            self._keep(msgspec.structs.replace(self._kept, term=self._kept.term + 1))
            self._leading = LocalTerm(self, self._kept.term)
            self._tell()
            return self._leading

    def assignments(self) -> Assignments:
        with self._changed:
            return self._assignments

    def last_tick(self) -> Tick | None:
        with self._changed:
            return self._last_tick

    def watermark(self) -> int | None:
        with self._changed:
            return self._kept.watermark

    def condemn(self, incarnation: Incarnation) -> None:
        with self._changed:
            if incarnation in self._condemned_s:
                return
            now_ms = self._clock.now_ms()
            condemned = (*self._not_yet_forgotten(now_ms), Condemnation(*incarnation, now_ms))
            self._keep(msgspec.structs.replace(self._kept, condemned=condemned))
            durable_s = self._clock.monotonic_s()
            self._condemned_s = {c.whom: self._condemned_s.get(c.whom, durable_s) for c in condemned}

    def is_condemned(self, incarnation: Incarnation) -> bool:
        with self._changed:
            return incarnation in self._condemned_s

    def condemned(self) -> Mapping[Incarnation, float]:
        """Return the condemned and for how many seconds at least the condemnation has been durable."""
        with self._changed:
            now_s = self._clock.monotonic_s()
            return {incarnation: now_s - since_s for incarnation, since_s in self._condemned_s.items()}

    def wait_for_change(self, seen: int, *, timeout_s: float) -> int:
        """Wait until members, terms or assignments have changed since version `seen`; return the version."""
        with self._changed:
            self._changed.wait_for(lambda: self._version != seen, timeout_s)
            return self._version

    def assign(self, term: LocalTerm, assignments: Assignments) -> None:
        """Replace the assignments under `term`."""
        with self._changed:
            self._require(term)
            self._assignments = assignments
            self._tell()

    def tick(self, term: LocalTerm, tick: Tick) -> None:
        """Publish the minute under `term`."""
        with self._changed:
            self._require(term)
            self._last_tick = tick

    def advance_watermark(self, term: LocalTerm, minute: int) -> None:
        """Move the watermark under `term`, never back."""
        with self._changed:
            self._require(term)
            if self._kept.watermark is None or minute > self._kept.watermark:
                self._keep(msgspec.structs.replace(self._kept, watermark=minute))

    def leads(self, term: LocalTerm) -> bool:
        with self._changed:
            return self._leading is term

    def expire(self, term: Term) -> None:
        """End `term` if it leads, whether by its own will or as if its session had been lost."""
        with self._changed:
            if self._leading is term:
                self._leading = None
                self._tell()

    def _not_yet_forgotten(self, now_ms: int) -> list[Condemnation]:
        now_s = self._clock.monotonic_s()
        return [
            condemnation
            for condemnation in self._kept.condemned
            if now_ms - condemnation.at_ms < CONDEMNED_FOR_MS
            or now_s - self._condemned_s[condemnation.whom] < CONDEMNED_AT_LEAST_S
        ]

    def _require(self, term: LocalTerm) -> None:
        if self._leading is not term:
            raise TermOver(f"term {term.number} has ended; the last one is {self._kept.term}")

    def _tell(self) -> None:
        self._version += 1
        self._changed.notify_all()

    def _keep(self, kept: Kept) -> None:
        """Make `kept` what a restart finds, then what this process answers from."""
        if self._path is not None:
            try:
                _write(self._path, msgspec.json.encode(kept))
            except OSError as error:
                raise Unavailable(
                    f"cannot keep the coordination's state in {self._path}: {error.strerror}",
                    code="unavailable.coordination",
                ) from error
        self._kept = kept


def _read(path: Path) -> Kept:
    try:
        kept = msgspec.json.decode(path.read_bytes(), type=Kept)
    except FileNotFoundError:
        return Kept()
    except (OSError, msgspec.MsgspecError) as error:
        raise Unavailable(
            f"cannot read the coordination's state in {path}: {error}", code="unavailable.coordination"
        ) from error
    if kept.version != VERSION:
        raise Unavailable(
            f"{path} was written by another version of chronoshard ({kept.version}, this one knows {VERSION})",
            code="unavailable.coordination",
        )
    return kept


def _write(path: Path, content: bytes) -> None:
    """Replace the file: after a crash at any instant it is the old one or the new one, whole."""
    staged = path.with_name(path.name + ".new")
    with staged.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    staged.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
