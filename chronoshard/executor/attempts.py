"""What one incarnation knows of each attempt: the memory that makes starts idempotent and fences final.

An attempt is known as running, as ended, or as refused for ever; no order for a known one starts anything.
Ended ones are forgotten only when their result has been accepted (then no orchestrator asks any more) and many
newer ones have come. Pure: the caller holds the lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from chronoshard.domain.identity import AttemptKey
from chronoshard.link import Fence, StartOrder

REMEMBERED = 50_000  # ended and accepted ones; at the highest rates some ten seconds, twice a reservation
FENCED = 200_000


class Attempt:
    """A started attempt. `directory` is where its output lies, None while it has none."""

    __slots__ = ("directory", "ended", "order", "started_ms")

    def __init__(self, order: StartOrder, started_ms: int) -> None:
        self.order = order
        self.started_ms = started_ms
        self.ended = False
        self.directory: Path | None = None


class Attempts:
    """All attempts of one incarnation."""

    def __init__(self) -> None:
        self._started: dict[AttemptKey, Attempt] = {}
        self._running: dict[AttemptKey, Attempt] = {}
        self._accepted: dict[AttemptKey, str] = {}  # tokens; the orders, with their params, are forgotten
        self._fenced: dict[AttemptKey, None] = {}

    def refusal(self, order: StartOrder) -> str | None:
        """Return why an order must not start anything new: empty text, it already has; None, it may."""
        known = self._started.get(order.key)
        token = known.order.token if known is not None else self._accepted.get(order.key)
        if token is not None:
            return "" if token == order.token else "already started under another claim"
        return "refused for ever by a fence" if order.key in self._fenced else None

    def add(self, attempt: Attempt) -> None:
        self._started[attempt.order.key] = self._running[attempt.order.key] = attempt

    def add_ended(self, attempt: Attempt) -> None:
        """Add one that has already ended when it is started."""
        attempt.ended = True
        self._started[attempt.order.key] = attempt

    def get(self, key: AttemptKey) -> Attempt | None:
        """Return one that runs, or whose result has not been accepted yet."""
        return self._started.get(key)

    def running(self, key: AttemptKey) -> Attempt | None:
        return self._running.get(key)

    def all_running(self) -> list[Attempt]:
        return list(self._running.values())

    def unfinished(self) -> list[AttemptKey]:
        """Return what runs here."""
        return list(self._running)

    def end(self, attempt: Attempt) -> bool:
        """Take note of an end; False when it had ended before."""
        if attempt.ended:
            return False
        attempt.ended = True
        del self._running[attempt.order.key]
        return True

    def fence(self, keys: Sequence[AttemptKey]) -> list[Fence]:
        """Say what became of each; refuse for ever what was never started."""
        return [self._fence(key) for key in keys]

    def accepted(self, keys: Iterable[AttemptKey]) -> None:
        """Their results are final: they may be forgotten, oldest first, when there are many."""
        for key in keys:
            if (attempt := self._started.pop(key, None)) is not None:
                self._accepted[key] = attempt.order.token
        while len(self._accepted) > REMEMBERED:
            del self._accepted[next(iter(self._accepted))]

    def _fence(self, key: AttemptKey) -> Fence:
        if key in self._running:
            return "running"
        if key in self._started or key in self._accepted:
            return "finished"
        self._fenced[key] = None
        if len(self._fenced) > FENCED:
            del self._fenced[next(iter(self._fenced))]
        return "refused"
