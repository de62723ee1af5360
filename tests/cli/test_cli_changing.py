"""Changing jobs, runs and tokens: what is asked of the server, and what is said."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest
from recording import DEADLINE_S, RestServer, Shell

from chronoshard.client.transport import Json

JOB = "a" * 32
BACKUP: Json = {
    "job_id": JOB,
    "name": "backup",
    "status": "scheduled",
    "generation": 3,
    "task_id": "sha256:1",
    "http": None,
    "trigger": {"kind": "cron", "schedule": "0 3 * * *", "zone": "UTC"},
    "params": {},
    "priority": "P2",
    "next_runs": ["2099-03-01T02:00:00Z"],
}


@pytest.fixture
def known(server: RestServer) -> RestServer:
    server.answer("GET", "jobs", {"items": [BACKUP], "next_cursor": None})
    server.answer("GET", f"jobs/{JOB}", BACKUP, ETag='"3"')
    server.answer("PATCH", f"jobs/{JOB}", {**BACKUP, "generation": 4})
    return server


def test_an_edit_names_only_what_was_said_and_what_it_was_read_as(known: RestServer, shell: Shell) -> None:
    shell("edit", "backup", "--retries", "5", "--cron", "0 4 * * *")

    (patch,) = known.asked("PATCH", f"jobs/{JOB}")
    trigger = {"kind": "cron", "schedule": "0 4 * * *", "zone": "UTC"}
    assert {"retries": {"max": 5}, "trigger": trigger} == patch.body
    assert '"3"' == patch.headers["if-match"]


def test_somebody_else_s_edit_in_between_exits_4(known: RestServer, shell: Shell) -> None:
    known.replace("PATCH", f"jobs/{JOB}", {"code": "conflict.stale", "detail": "it has changed"}, 412)

    assert 4 == shell.run("edit", "backup", "--retries", "5").code


def test_an_edit_without_options_and_without_a_terminal_is_refused(known: RestServer, shell: Shell) -> None:
    result = shell.run("edit", "backup", env={"EDITOR": "true"})

    assert 2 == result.code
    assert result.err.startswith("error[usage.edit]: nothing to change was named")


def edit_by_hand(shell: Shell, directory: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run `edit backup` on a terminal with an editor that is this shell script; $1 is the file."""
    editor = directory / "editor"
    editor.write_text(f"#!/bin/sh\n{script}\n")
    editor.chmod(0o755)
    leader, follower = pty.openpty()
    try:
        return subprocess.run(
            shell.command("edit", "backup"),
            stdin=follower,
            capture_output=True,
            text=True,
            env={**shell.env, "EDITOR": str(editor), "VISUAL": ""},
            timeout=DEADLINE_S,
            check=False,
        )
    finally:
        os.close(leader)
        os.close(follower)


def test_what_an_editor_changes_is_sent_and_nothing_else(known: RestServer, shell: Shell, tmp_path: Path) -> None:
    known.answer("POST", "jobs", {**BACKUP, "priority": "P1"})

    result = edit_by_hand(shell, tmp_path, 'sed -i s/P2/P1/ "$1"')

    assert 0 == result.returncode, result.stderr
    assert {"priority": "P1"} == known.asked("PATCH", f"jobs/{JOB}")[0].body


def test_a_job_without_a_name_can_be_given_one(known: RestServer, shell: Shell, tmp_path: Path) -> None:
    known.replace("GET", f"jobs/{JOB}", {**BACKUP, "name": None})
    known.answer("POST", "jobs", BACKUP)

    result = edit_by_hand(shell, tmp_path, 'sed -i "s/name: null/name: backup/" "$1"')

    assert 0 == result.returncode, result.stderr
    assert {"name": "backup"} == known.asked("PATCH", f"jobs/{JOB}")[0].body


@pytest.mark.parametrize(
    ("script", "code"), [("exit 1", 2), ("true", 0), ('echo "a: [" > "$1"', 2), (': > "$1"', 2)]
)
def test_an_editor_that_changes_nothing_or_breaks_the_file_changes_no_job(
    known: RestServer, shell: Shell, tmp_path: Path, script: str, code: int
) -> None:
    known.answer("POST", "jobs", BACKUP)

    assert code == edit_by_hand(shell, tmp_path, script).returncode
    assert [] == known.asked("PATCH", f"jobs/{JOB}")


def test_a_pause_gives_its_reason_and_lists_what_runs(known: RestServer, shell: Shell) -> None:
    answer = {"job_id": JOB, "status": "disabled", "running": ["r1", "r2"]}
    known.answer("PUT", f"jobs/{JOB}/status", answer)

    out = shell("pause", "backup", "--reason", "disk full")

    assert {"status": "disabled", "reason": "disk full"} == known.asked("PUT", f"jobs/{JOB}/status")[0].body
    assert out.splitlines()[1:] == ["status         disabled", "still running  r1", "               r2"]


def test_a_resume_is_the_opposite(known: RestServer, shell: Shell) -> None:
    known.answer("PUT", f"jobs/{JOB}/status", {"job_id": JOB, "status": "scheduled", "running": []})

    assert f"job     {JOB}\nstatus  scheduled\n" == shell("resume", "backup")
    assert {"status": "scheduled"} == known.asked("PUT", f"jobs/{JOB}/status")[0].body


def test_a_delete_asks_for_no_confirmation(known: RestServer, shell: Shell) -> None:
    known.answer("DELETE", f"jobs/{JOB}", {"job_id": JOB, "status": "deleted", "running": []})

    assert "deleted" == json.loads(shell("delete", "backup", "-o", "json"))["status"]


@pytest.mark.parametrize("what", ["cancel", "retry"])
def test_a_run_is_acted_on_under_a_key_of_its_own(server: RestServer, shell: Shell, what: str) -> None:
    server.answer("POST", f"runs/r/{what}", {"run_id": "r", "state": "running"}, 202)

    assert "run    r\nstate  running\n" == shell(what, "r")
    assert 32 == len(server.seen[0].headers["idempotency-key"])


def test_a_token_is_made_shown_and_taken_back(server: RestServer, shell: Shell) -> None:
    made = {"token_id": "t1", "token": "secret", "owner": "alice", "role": "viewer"}
    server.answer("POST", "admin/tokens", made, 201)
    server.answer("GET", "admin/tokens", {"items": [{"token_id": "t1", "owner": "alice"}], "next_cursor": None})
    server.answer("DELETE", "admin/tokens/t1", {})

    expires = ("--expires", "2028-01-01T00:00:00Z")
    assert "secret\n" == shell(
        "admin", "token", "create", "--owner", "alice", "--role", "viewer", *expires, "-o", "name"
    )
    assert {"owner": "alice", "role": "viewer", "expires_at": "2028-01-01T00:00:00Z"} == server.seen[0].body
    listed = shell("admin", "token", "list").splitlines()
    assert ["t1", "alice", "-", "-", "-"] == listed[1].split()
    assert "t1 revoked\n" == shell("admin", "token", "revoke", "t1")
