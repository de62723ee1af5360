"""`run`, `wait`, `logs`: from asking for a run to knowing what became of it."""

from __future__ import annotations

import json

import pytest
from recording import Reply, RestServer, Shell

JOB = "a" * 32
RUN = f"{JOB}-18c0-0"


def run_in(state: str, **attempt: object) -> dict[str, object]:
    return {
        "run_id": RUN,
        "job_id": JOB,
        "nominal_time": "2027-03-01T02:00:00Z",
        "state": state,
        "attempts": [{"attempt": 0, "state": state, "cause": "schedule", **attempt}],
    }


@pytest.fixture
def known(server: RestServer) -> RestServer:
    server.answer("GET", "jobs", {"items": [{"job_id": JOB}], "next_cursor": None})
    server.answer("GET", f"jobs/{JOB}", {"job_id": JOB, "name": "backup"})
    server.answer("POST", f"jobs/{JOB}/runs", {"run_id": RUN}, 202)
    return server


@pytest.mark.parametrize(
    ("state", "code"),
    [("succeeded", 0), ("failed", 1), ("timed_out", 1), ("lost", 1), ("cancelled", 1), ("skipped", 1)],
)
def test_waiting_exits_by_what_the_run_came_to(server: RestServer, shell: Shell, state: str, code: int) -> None:
    server.answer("GET", f"runs/{RUN}", run_in("pending"))
    server.answer("GET", f"runs/{RUN}", run_in("running"))
    server.answer("GET", f"runs/{RUN}", run_in(state))

    assert state == json.loads(shell("wait", RUN, "-o", "json", code=code))["state"]
    assert 3 == len(server.seen)


def test_waiting_gives_up_and_says_what_the_run_still_is(server: RestServer, shell: Shell) -> None:
    server.answer("GET", f"runs/{RUN}", run_in("retrying"))

    result = shell.run("wait", RUN, "--timeout", "0.1")

    assert (1, f"run {RUN} is still retrying\n") == (result.code, result.err)


def test_waiting_for_nothing_exits_3(server: RestServer, shell: Shell) -> None:
    server.refuse("GET", f"runs/{RUN}", 404, "run.not_found", "no such run")

    assert 3 == shell.run("wait", RUN).code


def test_a_run_is_asked_for_by_the_job_s_name_with_params(known: RestServer, shell: Shell) -> None:
    assert f"{RUN}\n" == shell("run", "backup", "--param", "n=5", "-o", "name")

    assert {"name": ["backup"], "limit": ["1"]} == known.asked("GET", "jobs")[0].query
    assert {"params": {"n": 5}} == known.asked("POST", f"jobs/{JOB}/runs")[0].body


def test_an_id_is_not_looked_up_by_name(known: RestServer, shell: Shell) -> None:
    shell("run", JOB)

    assert [] == known.asked("GET", "jobs")


def test_a_name_that_looks_like_an_id_is_found_as_well(server: RestServer, shell: Shell) -> None:
    name = "b" * 32
    server.answer("GET", "jobs", {"items": [{"job_id": JOB}], "next_cursor": None})
    server.answer("GET", f"jobs/{JOB}", {"job_id": JOB, "name": name})
    server.answer("POST", f"jobs/{JOB}/runs", {"run_id": RUN}, 202)

    assert f"{RUN}\n" == shell("run", name, "-o", "name")


@pytest.mark.parametrize(("state", "exit_code", "code"), [("succeeded", 0, 0), ("failed", 3, 1)])
def test_following_a_run_prints_its_output_and_ends_as_it_did(
    known: RestServer, shell: Shell, state: str, exit_code: int, code: int
) -> None:
    stream = 'id: 3\ndata: {"offset": 0, "text": "hi\\n"}\n\nevent: end\ndata: {}\n\n'
    known.reply(
        "GET", f"runs/{RUN}/output/stream", Reply(200, stream.encode(), {"Content-Type": "text/event-stream"})
    )
    known.answer("GET", f"runs/{RUN}", run_in(state, exit_code=exit_code))

    result = shell.run("run", "backup", "--follow")

    assert (code, "hi\n") == (result.code, result.out)
    assert f"run {RUN}" == result.err.splitlines()[0]
    assert result.err.splitlines()[-1].startswith(f"run {RUN} {state}")


def test_output_is_printed_byte_for_byte_each_stream_to_its_own(server: RestServer, shell: Shell) -> None:
    server.reply("GET", f"runs/{RUN}/output", Reply(200, "ä\r\n\x00".encode(), {}))
    server.reply("GET", f"runs/{RUN}/output", Reply(200, b"oops\n", {"X-Output-Truncated": "true"}))

    result = shell.run("logs", RUN)

    assert "ä\r\n\x00" == result.out
    assert "oops\nstderr was cut: the task printed more than is kept\n" == result.err
    assert [["stdout"], ["stderr"]] == [seen.query["stream"] for seen in server.seen]


def test_one_stream_can_be_followed_alone(server: RestServer, shell: Shell) -> None:
    lines = [
        'data: {"offset": 0, "text": "out\\n", "stream": "stdout"}\n\n',
        'data: {"offset": 0, "text": "err\\n", "stream": "stderr"}\n\n',
        "event: end\ndata: {}\n\n",
    ]
    stream = Reply(200, "".join(lines).encode(), {"Content-Type": "text/event-stream"})
    server.reply("GET", f"runs/{RUN}/output/stream", stream)

    assert "err\n" == shell("logs", RUN, "--follow", "--stream", "stderr")
    both = shell.run("logs", RUN, "-f")
    assert ("out\n", "err\n") == (both.out, both.err)


def test_one_stream_of_one_attempt(server: RestServer, shell: Shell) -> None:
    server.reply("GET", f"runs/{RUN}/output", Reply(200, b"oops\n", {}))

    assert "oops\n" == shell("logs", RUN, "--attempt", "0", "--stream", "stderr")
    assert [{"attempt": ["0"], "stream": ["stderr"]}] == [seen.query for seen in server.seen]
