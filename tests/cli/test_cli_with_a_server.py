"""The commands as a user meets them: `chronoshard up` on a scratch directory, found without being told."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from recording import DEADLINE_S, Shell

FAILS_ONCE = """
import os, sys
print("attempt", os.environ["CHRONOSHARD_ATTEMPT"], "for", os.environ["CHRONOSHARD_PARAM_NAME"])
print("complaint", file=sys.stderr)
sys.exit(0 if os.environ["CHRONOSHARD_ATTEMPT"] == "1" else 3)
"""


def start(home: Path) -> subprocess.Popen[str]:
    """Start a server and return when it says that it is up."""
    environ = {**os.environ, "HOME": str(home)}
    words = [sys.executable, "-m", "chronoshard.cli", "up", "--data", str(home / "data"), "--port", "0"]
    process = subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in process.stdout or ():
            lines.put(line)

    threading.Thread(target=read, daemon=True).start()
    line = lines.get(timeout=DEADLINE_S)
    assert line.startswith("chronoshard is up: http://127.0.0.1:"), line
    return process


def stop(process: subprocess.Popen[str]) -> int:
    process.send_signal(signal.SIGTERM)
    try:
        return process.wait(timeout=DEADLINE_S)
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A user's home in which a server runs."""
    directory = tmp_path_factory.mktemp("user")
    process = start(directory)
    yield directory
    stop(process)


def shell_in(home: Path, directory: Path, capture: pytest.CaptureFixture[str]) -> Shell:
    """Return a shell that is not told where the server is."""
    shell = Shell("", home, capture)
    for name in ("CHRONOSHARD_URL", "CHRONOSHARD_TOKEN"):
        del shell.env[name]
    shell.directory = directory
    return shell


@pytest.fixture
def shell(home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Shell:
    return shell_in(home, tmp_path, capfd)


def test_the_server_and_the_token_are_found(shell: Shell) -> None:
    answer = json.loads(shell("whoami", "-o", "json"))

    assert ("local", "operator") == (answer["owner"], answer["role"])


def test_a_script_is_submitted_run_followed_and_explained(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "once.py").write_text(FAILS_ONCE)
    shell(
        "submit",
        "once.py",
        "--name",
        "once",
        "--manual",
        "--param",
        "name=x",
        "--retries",
        "1",
        "--retry-delay",
        "0s",
    )

    followed = shell.run("run", "once", "--param", "name=y", "--follow")

    assert (0, "attempt 0 for y\nattempt 1 for y\n") == (followed.code, followed.out)
    run_id = shell("history", "once", "-o", "name").strip()
    assert "attempt 0 for y\n" == shell("logs", run_id, "--attempt", "0", "--stream", "stdout")
    assert "complaint\n" == shell.run("logs", run_id).err
    assert [0, 1] == [
        attempt["attempt"] for attempt in json.loads(shell("wait", run_id, "-o", "json"))["attempts"]
    ]
    assert "because the attempt before it failed" in shell("explain", run_id)


def test_a_run_that_fails_ends_the_waiting_with_1(shell: Shell) -> None:
    job = json.loads(shell("submit", "fail 7", "--runtime", "builtin", "--now", "-o", "json"))

    assert 1 == shell.run("wait", job["run_id"]).code
    assert ["7"] == re.findall(r"exit code (\d+)", shell("wait", job["run_id"], code=1))


def test_a_run_is_cancelled(shell: Shell) -> None:
    job = json.loads(shell("submit", "sleep 300", "--runtime", "builtin", "--now", "-o", "json"))

    shell("cancel", job["run_id"])

    assert "cancelled" == json.loads(shell("wait", job["run_id"], "-o", "json", code=1))["state"]


def test_a_job_is_paused_resumed_and_deleted(shell: Shell) -> None:
    shell("submit", "noop", "--runtime", "builtin", "--every", "1h", "--name", "hourly")

    assert "disabled" == json.loads(shell("pause", "hourly", "--reason", "quiet", "-o", "json"))["status"]
    assert "Every 1 hour (disabled): never\n" == shell("next", "hourly")
    assert "scheduled" == json.loads(shell("resume", "hourly", "-o", "json"))["status"]
    shell("delete", "hourly")
    assert 3 == shell.run("describe", "hourly").code


def test_next_of_a_job_is_what_the_server_will_do(shell: Shell) -> None:
    spread = json.loads(
        shell(
            "submit", "noop", "--runtime", "builtin", "--cron", "H H * * *", "--zone", "Asia/Tokyo", "-o", "json"
        )
    )
    steady = json.loads(shell("submit", "noop", "--runtime", "builtin", "--every", "90m", "-o", "json"))

    for job in (spread, steady):
        times = [
            entry["utc"] for entry in json.loads(shell("next", job["job_id"], "-n", "7", "-o", "json"))["times"]
        ]
        assert job["next_runs"] == times[:5]
        assert 7 == len(set(times))


def test_a_manifest_round_trips(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "task.sh").write_text("echo hi\n")
    (tmp_path / "jobs.yaml").write_text(
        """
kind: job
name: of-a-file
file: task.sh
trigger: {kind: cron, schedule: "0 3 * * *", zone: Europe/Berlin, max_runs: 9, jitter: 90s}
params: {text: "a: b", number: 1.5, list: [1, null]}
retries: {max: 2, delay: 60s}
timeout: 90
---
kind: job
name: of-text
task: {runtime: python, source: "print(1)"}
trigger: {kind: interval, every: 3600}
---
kind: job
name: of-a-url
http: {url: "http://127.0.0.1:1/", method: POST, headers: {X-A: b}}
trigger: {kind: manual}
tags: {team: a}
"""
    )

    assert ["created"] * 3 == [
        entry["action"] for entry in json.loads(shell("apply", "-f", "jobs.yaml", "-o", "json"))
    ]
    assert "" == shell("diff", "-f", "jobs.yaml")
    for name in ("of-a-file", "of-text", "of-a-url"):
        assert "" == shell("diff", "-f", "-", stdin=shell("get", "job", name, "-o", "yaml"))

    (tmp_path / "task.sh").write_text("echo changed\n")
    assert "+    echo changed" in shell("diff", "-f", "jobs.yaml", code=1)
    changed = {
        entry["name"]: entry["changed"] for entry in json.loads(shell("apply", "-f", "jobs.yaml", "-o", "json"))
    }
    assert {"of-a-file": ["task"], "of-text": [], "of-a-url": []} == changed


def test_one_bad_document_keeps_all_from_being_applied(shell: Shell, tmp_path: Path) -> None:
    document = "kind: job\nname: {}\ntask: {{runtime: shell, source: ls}}\ntrigger: {{kind: cron, schedule: {}}}\n"
    texts = (
        document.format("good", '"* * * * *"'),
        document.format("bad", '"20 * * *"'),
        "kind: job\nname: worse\n",
    )
    (tmp_path / "jobs.yaml").write_text("---\n".join(texts))

    result = shell.run("apply", "-f", "jobs.yaml")

    assert 2 == result.code
    assert "where: jobs.yaml#2/trigger/schedule" in result.err
    assert "where: jobs.yaml#3/trigger: this field is needed" in result.err
    assert "" == shell("get", "jobs", "--name", "good", "-o", "name")


def test_a_dry_run_changes_nothing(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "jobs.yaml").write_text(
        "kind: job\nname: dry\ntask: {runtime: shell, source: ls}\ntrigger: {kind: manual}\n"
    )

    assert "WOULD BE" in shell("apply", "-f", "jobs.yaml", "--dry-run")
    assert "" == shell("get", "jobs", "--name", "dry", "-o", "name")


def test_a_viewer_is_told_that_he_may_not(shell: Shell) -> None:
    token = shell("admin", "token", "create", "--owner", "local", "--role", "viewer", "-o", "name").strip()

    result = shell.run("submit", "noop", "--runtime", "builtin", "--now", env={"CHRONOSHARD_TOKEN": token})

    assert 6 == result.code
    assert result.err.startswith("error[auth.role]: ")


def test_a_revoked_token_opens_nothing(shell: Shell) -> None:
    made = json.loads(shell("admin", "token", "create", "--owner", "eve", "-o", "json"))
    shell("admin", "token", "revoke", made["token_id"])

    assert 6 == shell.run("get", "jobs", env={"CHRONOSHARD_TOKEN": made["token"]}).code


def test_a_name_that_is_taken_exits_4(shell: Shell) -> None:
    shell("submit", "noop", "--runtime", "builtin", "--manual", "--name", "mine")

    assert 4 == shell.run("submit", "noop", "--runtime", "builtin", "--manual", "--name", "mine").code


def test_the_same_key_makes_one_job(shell: Shell) -> None:
    words = ("submit", "noop", "--runtime", "builtin", "--manual", "--idempotency-key", "k", "-o", "name")

    assert shell(*words) == shell(*words)


def test_operators_see_parts_shards_queues_and_a_clean_ledger(shell: Shell) -> None:
    assert "executor" in shell("get", "nodes")
    assert 16 == len(shell("get", "shards", "-o", "name").split())
    assert shell("get", "queues").startswith("QUEUE")
    assert shell("verify").endswith("everything due is accounted for\n")
    assert {"server", "store", "clock"} <= {
        check["check"] for check in json.loads(shell.run("doctor", "-o", "json").out)["items"]
    }


def test_a_stopped_server_leaves_nothing_to_be_found(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    process = start(tmp_path)
    pointer = tmp_path / ".local" / "state" / "chronoshard" / "server.json"
    assert pointer.exists()

    assert 0 == stop(process)

    assert not pointer.exists()
    assert 5 == shell_in(tmp_path, tmp_path, capfd).run("get", "jobs").code
