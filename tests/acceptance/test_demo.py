"""The demo, as a new user runs it; and that it can fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ENDS_WITHIN_S = 75  # under a minute by itself; the rest is a busy machine


def demo(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "chronoshard.cli", "demo"],
        env={**os.environ, "TMPDIR": str(tmp_path), **environment},
        capture_output=True,
        text=True,
        timeout=ENDS_WITHIN_S,
        check=False,
    )


def test_the_demo_shows_a_retry_and_a_requeue_and_ends_well(tmp_path: Path) -> None:
    shown = demo(tmp_path)

    assert 0 == shown.returncode, shown.stdout + shown.stderr
    for event in ("kill -9", "(retry)", "(infrastructure)", "executor.restarted", "everything as it should be"):
        assert event in shown.stdout


def test_the_demo_fails_when_an_executor_loses_a_run_for_good(tmp_path: Path) -> None:
    """The second executor never reports what it ran: those runs have no end, and the demo says so."""
    shown = demo(tmp_path, CHRONOSHARD_DEMO_FAILPOINTS="executor.results_sent=raise")

    assert 1 == shown.returncode, shown.stdout + shown.stderr
    assert "NOT AS IT SHOULD BE" in shown.stdout
