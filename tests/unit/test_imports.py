"""The client and the command line stay light: no server, no store, no cron engine comes with them."""

from __future__ import annotations

import subprocess
import sys

import pytest

OF_SERVERS_ONLY = {"fastapi", "starlette", "uvicorn", "obstore", "croniter", "pydantic", "psutil", "sqlite3"}


@pytest.mark.parametrize("module", ["chronoshard.client", "chronoshard.cli.__main__"])
def test_a_client_is_imported_without_what_only_servers_need(module: str) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    command = [sys.executable, "-c", code]

    loaded = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.split()

    assert set() == OF_SERVERS_ONLY.intersection(loaded)
