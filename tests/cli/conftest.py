"""Fixtures for the command line: a server that remembers what it was asked, and a shell that speaks to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from recording import RestServer, Shell


@pytest.fixture
def server() -> Iterator[RestServer]:
    rest = RestServer()
    yield rest
    rest.close()


@pytest.fixture
def shell(server: RestServer, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Shell:
    return Shell(server.url, tmp_path, capfd)
