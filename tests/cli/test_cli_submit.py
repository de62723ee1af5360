"""`submit`: what is typed is what the server is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from recording import NO_ANSWER, RestServer, Shell

JOB = "a" * 32


@pytest.fixture
def accepting(server: RestServer) -> RestServer:
    server.answer(
        "POST",
        "jobs",
        {"job_id": JOB, "name": "n", "status": "scheduled", "next_runs": ["2099-03-01T02:00:00Z"]},
        201,
    )
    server.answer("POST", "tasks", {"task_id": "sha256:77", "runtime": "binary"}, 201)
    return server


def test_a_script_goes_with_its_text(accepting: RestServer, shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "backup.sh").write_text("tar cf /dev/null .\n")

    shell("submit", "backup.sh", "--name", "n", "--cron", "0 3 * * *", "--zone", "Europe/Berlin", "--param", "a=1")

    (request,) = accepting.seen
    assert {
        "name": "n",
        "task": {"runtime": "shell", "source": "tar cf /dev/null .\n"},
        "trigger": {"kind": "cron", "schedule": "0 3 * * *", "zone": "Europe/Berlin"},
        "params": {"a": 1},
    } == request.body


def test_a_program_goes_as_a_file(accepting: RestServer, shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "tool").write_bytes(b"\x7fELF\x00\xff")

    shell("submit", "tool", "--now")

    upload, request = accepting.seen
    assert b"\x7fELF\x00\xff" in upload.content
    assert b'name="runtime"\r\n\r\nbinary' in upload.content
    assert {"task_id": "sha256:77", "trigger": {"kind": "now"}} == request.body


def test_a_url_becomes_a_request(accepting: RestServer, shell: Shell) -> None:
    shell(
        "submit",
        "https://example.com/hook",
        "--method",
        "POST",
        "--header",
        "X-A=b",
        "--body",
        '{"a": 1}',
        "--every",
        "5m",
    )

    http = {"url": "https://example.com/hook", "method": "POST", "headers": {"X-A": "b"}, "body": '{"a": 1}'}
    assert {"http": http, "trigger": {"kind": "interval", "every": "5m"}} == accepting.seen[0].body


def test_options_of_a_request_need_a_url(accepting: RestServer, shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text("ls")

    result = shell.run("submit", "a.sh", "--now", "--header", "a=b")

    assert (2, []) == (result.code, accepting.seen)
    assert "where: --header" in result.err


def test_a_builtin_is_not_a_file(accepting: RestServer, shell: Shell) -> None:
    shell("submit", "sleep 5", "--runtime", "builtin", "--now")

    assert {"runtime": "builtin", "source": "sleep 5"} == accepting.seen[0].body["task"]


def test_the_key_that_was_given_is_sent(accepting: RestServer, shell: Shell) -> None:
    shell("submit", "https://example.com", "--now", "--idempotency-key", "k1")

    assert "k1" == accepting.seen[0].headers["idempotency-key"]


def test_without_a_key_its_own_retries_share_one(server: RestServer, shell: Shell) -> None:
    server.reply("POST", "jobs", NO_ANSWER)
    server.answer("POST", "jobs", {"job_id": JOB}, 201)

    shell("submit", "https://example.com", "--now")

    first, second = (seen.headers["idempotency-key"] for seen in server.seen)
    assert first == second


def test_the_answer_is_the_id_and_when_it_runs(accepting: RestServer, shell: Shell) -> None:
    out = shell("submit", "https://example.com", "--every", "5m")

    assert out.startswith(f"job   {JOB}\nname  n\nnext  01 Mar 2099 03:00 (in ")


def test_a_run_at_once_has_its_id_printed(server: RestServer, shell: Shell) -> None:
    server.answer("POST", "jobs", {"job_id": JOB, "name": None, "run_id": f"{JOB}-1-1", "next_runs": []}, 201)

    assert f"job  {JOB}\nrun  {JOB}-1-1\n" == shell("submit", "https://example.com", "--now")


def test_each_format_prints_the_same_job(accepting: RestServer, shell: Shell) -> None:
    words = ("submit", "https://example.com", "--now")

    assert f"{JOB}\n" == shell(*words, "-o", "name")
    assert JOB == json.loads(shell(*words, "-o", "json"))["job_id"]
    assert f"job_id: {JOB}" == shell(*words, "-o", "yaml").splitlines()[0]
