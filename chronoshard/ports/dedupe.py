"""Marks that save publishing twice, and hints that save waiting. Neither decides anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from chronoshard.domain.identity import AttemptKey, Partition

MARK_S = 120.0  # how long a confirmed publish is remembered


class Dedupe(Protocol):
    """Fails open: when it cannot answer it says so by Unavailable, and callers go on without it (invariant 9)."""

    def marked(self, keys: Sequence[AttemptKey]) -> set[AttemptKey]:
        """Return those whose publish was confirmed within the last MARK_S."""

    def mark(self, keys: Sequence[AttemptKey]) -> None:
        """Remember confirmed publishes. Only after the confirm, never before."""

    def hint(self, partitions: Iterable[Partition]) -> None:
        """Tell whoever has subscribed that rows have come at short notice. May be lost."""

    def subscribe(self, heard: Callable[[Partition], None]) -> Callable[[], None]:
        """Call `heard` (quickly, from any thread) for each hint from now on; the return value ends it."""
