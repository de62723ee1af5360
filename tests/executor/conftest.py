"""An executor with real processes, fresh for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.executor.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A bench whose executor is not started yet; it is stopped at the end."""
    bench = Bench(tmp_path / "executor")
    yield bench
    bench.stop()
