"""What holds for every test: nobody's home is touched, nobody's server is called, no process is left behind."""

from __future__ import annotations

import os
from collections.abc import Iterator

import psutil
import pytest
from hypothesis import settings

GONE_WITHIN_S = 5.0  # what was told to end may take a moment

# A slow machine is not a wrong answer, so no deadline; the blob repeats a failure anywhere.
settings.register_profile("chronoshard", deadline=None, print_blob=True)
settings.load_profile("chronoshard")


@pytest.fixture(scope="session", autouse=True)
def _home_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the tests away from the settings, the servers and the state of whoever runs them."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("CHRONOSHARD_", "XDG_"))]:
            patch.delenv(name)
        # pip keeps its downloads where they are: tests that install would fetch everything again.
        cache = os.environ.get("PIP_CACHE_DIR") or os.path.expanduser("~/.cache/pip")
        patch.setenv("PIP_CACHE_DIR", cache)
        patch.setenv("HOME", str(home))
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_process_is_left() -> Iterator[None]:
    """Fail the session when a test's process outlives it."""
    yield
    _, alive = psutil.wait_procs(psutil.Process().children(recursive=True), timeout=GONE_WITHIN_S)
    left = [f"{process.pid}: {' '.join(process.cmdline())}" for process in alive if process.is_running()]
    for process in alive:
        process.kill()
    assert [] == left
