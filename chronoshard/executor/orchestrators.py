"""Which orchestrator an executor speaks to: any will do, so it stays with one until that fails."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from threading import Lock

from chronoshard.errors import LinkRefused
from chronoshard.link import Address, OrchestratorLink


class Orchestrators:
    """The ones that are known, newest list first heard by a beat's answer. Safe for several threads.

    Executors start at different places of the list, so that they spread over it.
    """

    def __init__(
        self, executor: str, known: Sequence[Address], connect: Callable[[Address], OrchestratorLink]
    ) -> None:
        self._connect = connect
        self._lock = Lock()
        self._links: dict[Address, OrchestratorLink] = {}
        self._known = list(known)
        self._executor = executor
        self._failures = 0

    def current(self) -> tuple[Address, OrchestratorLink]:
        """Return who is spoken to now; raise LinkRefused when nobody is known."""
        with self._lock:
            if not self._known:
                raise LinkRefused("no orchestrator is known", code="link.nobody")
            start = zlib.crc32(self._executor.encode())
            address = self._known[(start + self._failures) % len(self._known)]
            if address not in self._links:
                self._links[address] = self._connect(address)
            return address, self._links[address]

    def failed(self, address: Address) -> None:
        """Go on to the next one, unless somebody else already has."""
        with self._lock:
            start = zlib.crc32(self._executor.encode())
            if self._known and self._known[(start + self._failures) % len(self._known)] == address:
                self._failures += 1

    def learn(self, known: Sequence[Address]) -> None:
        """Replace the list; an empty one says nothing."""
        with self._lock:
            if known and set(known) != set(self._known):
                self._known = sorted(known, key=lambda address: address.name)
                self._links = {a: link for a, link in self._links.items() if a in set(known)}
