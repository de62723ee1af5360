"""The coordination of every adapter in turn, with ways to lose a session and to start again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hand_clock import HandClock

from chronoshard.adapters.local_coordination import LocalCoordination
from chronoshard.ports import Coordination, Term


class Coordinations:
    """`now` is what the parts talk to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.clock = HandClock()
        self._local = LocalCoordination(path, self.clock)

    @property
    def now(self) -> Coordination:
        return self._local

    def lead(self) -> Term:
        """Return the term of a new leader; nobody leads before."""
        term = self.now.campaign("m1")
        assert term is not None
        return term

    def lose(self, term: Term) -> None:
        """Let the leader's session end without its doing."""
        self._local.expire(term)

    def restart(self) -> None:
        """Start the coordination again, with what it has kept."""
        self._local = LocalCoordination(self._path, self.clock)


@pytest.fixture(params=["local"])
def coordination(request: pytest.FixtureRequest, tmp_path: Path) -> Coordinations:
    return Coordinations(tmp_path / "coordination.json")
