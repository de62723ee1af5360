"""Who leads, who is there, who has what, and which executors are condemned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from chronoshard.domain.liveness import Incarnation


class Member(msgspec.Struct, frozen=True):
    """A live part. It is a member until it leaves or its session is lost."""

    part: str  # master, shard_worker, orchestrator, health_checker, api
    name: str
    url: str = ""


class Assignments(msgspec.Struct, frozen=True):
    """What each shard worker and orchestrator has, from `minute` on, until replaced."""

    term: int = 0
    minute: int = 0
    shards: dict[int, str] = {}
    slices: dict[int, str] = {}


class Tick(msgspec.Struct, frozen=True):
    """The master's word once a minute: which minute, and its own time."""

    term: int
    minute: int
    time_ms: int


class Term(Protocol):
    """The time one master leads. Every write raises TermOver when a newer term exists, also when the caller
    has not heard of it yet, and when this one has ended."""

    @property
    def number(self) -> int: ...

    def assign(self, assignments: Assignments) -> None: ...

    def tick(self, tick: Tick) -> None: ...

    def advance_watermark(self, minute: int) -> None:
        """Say that every shard of every minute before `minute` is closed. Never moves back."""

    def trusted(self) -> bool:
        """Say whether the leader may still act without asking: its trust ends before its session does."""

    def resign(self) -> None:
        """End the term at once."""


class Coordination(Protocol):
    """Terms, memberships, assignments, condemnations. The watermark, terms and condemnations are durable."""

    def join(self, member: Member) -> None:
        """Be seen as a live part. Joining again under the same part and name replaces."""

    def leave(self, member: Member) -> None: ...

    def members(self, part: str) -> list[Member]:
        """Return the live ones, by name."""

    def campaign(self, name: str) -> Term | None:
        """Return a new term, numbered above every earlier one, when nobody leads; None otherwise."""

    def assignments(self) -> Assignments: ...

    def last_tick(self) -> Tick | None: ...

    def watermark(self) -> int | None:
        """Return the first minute that is not closed in every shard; None in a new system."""

    def condemn(self, incarnation: Incarnation) -> None:
        """Make it durable that it may start and keep nothing. Repeating is harmless. Never undone."""

    def is_condemned(self, incarnation: Incarnation) -> bool:
        """Answer from the newest state, not from a cache."""

    def condemned(self) -> Mapping[Incarnation, float]:
        """Return the condemned and for how many seconds at least the condemnation has been durable."""

    def wait_for_change(self, seen: int, *, timeout_s: float) -> int:
        """Wait until members, terms or assignments have changed since version `seen`; return the version."""
