"""The store of every adapter in turn, empty, on a clock that the test turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hand_clock import HandClock
from store_values import SHARDS

from chronoshard.adapters.sqlite import SqliteStore
from chronoshard.ports import Store


def _sqlite(directory: Path, clock: HandClock) -> Store:
    return SqliteStore.open(directory / "store.db", shards=SHARDS, clock=clock)


OPENERS: dict[str, Callable[[Path, HandClock], Store]] = {"sqlite": _sqlite}


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture(params=OPENERS)
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: HandClock) -> Iterator[Store]:
    opened = OPENERS[request.param](tmp_path, clock)
    yield opened
    opened.close()
