"""Every exit code, every form of an error."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from recording import DEADLINE_S, NO_ANSWER, Reply, RestServer, Shell

JOB = "a" * 32
RUN = f"{JOB}-18c0-0"


@pytest.mark.parametrize(
    ("status", "code", "exit_code"),
    [
        (400, "json.malformed", 2),
        (422, "cron.fields", 2),
        (413, "limit.size", 2),
        (404, "run.not_found", 3),
        (409, "run.final", 4),
        (412, "conflict.stale", 4),
        (429, "limit.rate", 5),
        (500, "internal", 5),
        (503, "unavailable", 5),
        (401, "auth.token", 6),
        (403, "auth.role", 6),
    ],
)
def test_a_refusal_is_words_on_stderr_and_an_exit_code(
    server: RestServer, shell: Shell, status: int, code: str, exit_code: int
) -> None:
    server.refuse("POST", f"runs/{RUN}/cancel", status, code, "it cannot be", hint="do this")

    result = shell.run("cancel", RUN)

    assert exit_code == result.code
    assert result.out == ""
    assert result.err.splitlines() == [
        f"error[{code}]: it cannot be",
        "  why:   the server refused it (request req-1)",
        "  next:  do this",
    ]


def test_a_refusal_is_json_where_json_was_asked_for(server: RestServer, shell: Shell) -> None:
    fields = [{"pointer": "/trigger/schedule", "detail": "needs 5"}]
    server.refuse("POST", "jobs", 422, "cron.fields", "needs 5", errors=fields)

    result = shell.run("submit", "https://example.com/x", "--cron", "20 * * *", "-o", "json")

    assert (2, "") == (result.code, result.out)
    record = json.loads(result.err)["error"]
    assert ("cron.fields", fields, 2) == (record["code"], record["errors"], record["exit_code"])


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["sbmit"], "error[usage.command]: there is no command 'sbmit'"),
        (["get"], "error[usage]: chronoshard get needs one of: jobs, job, runs, nodes, shards, queues"),
        (["wait"], "error[usage]: parameter RUN requires an argument."),
        (["wait", RUN, "--tmeout", "5"], "error[usage]: unknown option: --tmeout. Did you mean --timeout?"),
        (["get", "jobs", "-o", "xml"], 'error[usage]: invalid value "xml" for -o.'),
        (["wait", RUN, "--timeout", "soon"], "error[duration.form]: 'soon' is not a duration"),
        (["submit", "nowhere.py", "--now"], "error[source.unreadable]: cannot read 'nowhere.py'"),
        (["submit", "https://example.com"], "error[usage.trigger]: it does not say when to run"),
        (["run", "x", "--param", "k"], "error[usage.pair]: 'k' is not of the form K=V"),
        (["next", "backup", "--zone", "UTC"], "error[usage.zone]: 'backup' is a job, and a job has its own zone"),
        (["next", "0 3 * * *", "-n", "0"], "error[usage.count]: a count is between 1 and 100"),
        (["apply", "-f", "."], "error[manifest.file]: cannot read '.'"),
        (["apply", "-f", "-"], "error[manifest.empty]: there is no job in it"),
        (["apply", "-f", "nowhere.yaml"], "error[manifest.file]: cannot read 'nowhere.yaml'"),
    ],
)
def test_what_cannot_be_meant_exits_2_and_says_the_next_step(
    server: RestServer, shell: Shell, words: list[str], line: str
) -> None:
    server.answer("GET", "jobs", {"items": [{"job_id": JOB}], "next_cursor": None})
    server.answer("GET", f"jobs/{JOB}", {"job_id": JOB})

    result = shell.run(*words)

    assert 2 == result.code
    assert result.err.startswith(line), result.err
    assert [] == [seen for seen in server.seen if seen.method != "GET"]


def test_a_near_command_is_suggested(shell: Shell) -> None:
    assert "did you mean 'get jobs'?" in shell.run("get", "jbs").err


def test_a_name_that_no_job_has_exits_3(server: RestServer, shell: Shell) -> None:
    server.answer("GET", "jobs", {"items": [], "next_cursor": None})

    result = shell.run("describe", "nothing")

    assert 3 == result.code
    assert result.err.startswith("error[job.not_found]: no job has the name or id 'nothing'")


def test_no_server_exits_5_and_says_how_to_start_one(shell: Shell) -> None:
    with socket.socket() as taken:  # bound, not listening: nobody else can take the port meanwhile
        taken.bind(("127.0.0.1", 0))
        result = shell.run(
            "whoami", stdin="", env={"CHRONOSHARD_URL": f"http://127.0.0.1:{taken.getsockname()[1]}"}
        )

    assert 5 == result.code
    assert result.err.startswith("error[server.unreachable]: no answer from http://127.0.0.1:")
    assert "chronoshard up" in result.err


def test_a_proxy_for_the_world_is_not_asked_for_this_machine(server: RestServer, shell: Shell) -> None:
    server.answer("GET", "whoami", {"owner": "local", "role": "operator"})

    result = shell.run("whoami", env={"HTTP_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9"})

    assert 0 == result.code, result.err


def test_ctrl_c_ends_quietly_with_130(server: RestServer, shell: Shell) -> None:
    server.answer("GET", f"runs/{RUN}", {"run_id": RUN, "job_id": JOB, "state": "running", "attempts": []})
    process = subprocess.Popen(
        shell.command("wait", RUN), env=shell.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    server.wait_for("GET", f"runs/{RUN}")

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE_S)

    assert (130, b"", b"") == (process.returncode, out, err)


def test_a_closed_pipe_ends_quietly(server: RestServer, shell: Shell) -> None:
    jobs = [{"job_id": JOB, "name": "n" * 150} for _ in range(2000)]
    server.answer("GET", "jobs", {"items": jobs, "next_cursor": None})
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        process = subprocess.run(
            shell.command("get", "jobs"),
            env=shell.env,
            stdout=write_end,
            stderr=subprocess.PIPE,
            timeout=DEADLINE_S,
            check=False,
        )
    finally:
        os.close(write_end)

    assert (141, b"") == (process.returncode, process.stderr)


def test_a_stopped_server_of_this_machine_exits_5(shell: Shell, tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait(timeout=DEADLINE_S)
    record = {"url": "http://127.0.0.1:9", "token_file": "t", "pid": ended.pid}
    (tmp_path / "server.json").write_text(json.dumps(record))
    pointer = tmp_path / "run" / "chronoshard" / "server.json"
    pointer.parent.mkdir(parents=True)
    pointer.write_text(json.dumps({"server_file": str(tmp_path / "server.json")}))
    del shell.env["CHRONOSHARD_URL"], shell.env["CHRONOSHARD_TOKEN"]

    result = shell.run("get", "jobs", env={"XDG_RUNTIME_DIR": str(tmp_path / "run")})

    assert 5 == result.code
    assert result.err.startswith("error[server.not_running]: the embedded server is not running")


def test_something_else_that_answers_there_is_called_so(server: RestServer, shell: Shell) -> None:
    server.reply("GET", "whoami", Reply(200, b"<html>It works!</html>", {"Content-Type": "text/html"}))

    result = shell.run("whoami")

    assert 5 == result.code
    assert result.err.startswith("error[server.foreign]: what answers there is not chronoshard")


def test_one_lost_answer_is_not_seen_by_the_user(server: RestServer, shell: Shell) -> None:
    server.reply("GET", "whoami", NO_ANSWER)
    server.answer("GET", "whoami", {"owner": "local", "role": "operator"})

    assert 0 == shell.run("whoami").code
