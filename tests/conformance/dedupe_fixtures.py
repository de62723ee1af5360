"""The dedupe of every adapter in turn, with a way to let time pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
from hand_clock import HandClock

from chronoshard.adapters.local_dedupe import LocalDedupe
from chronoshard.ports import Dedupe


class Dedupes(NamedTuple):
    now: Dedupe
    pass_by: Callable[[float], None]


@pytest.fixture(params=["local"])
def dedupe(request: pytest.FixtureRequest) -> Dedupes:
    clock = HandClock()
    return Dedupes(LocalDedupe(clock), clock.advance)
