"""What is shown of jobs, runs and the system: golden tables, and the same as data."""

from __future__ import annotations

import json

import pytest
from recording import RestServer, Shell

from chronoshard.client.transport import Json

JOB = "a" * 32
OTHER = "b" * 32
JOBS: list[Json] = [
    {
        "job_id": JOB,
        "name": "backup",
        "status": "scheduled",
        "trigger": {"kind": "cron", "schedule": "0 3 * * *", "zone": "Europe/Berlin"},
        "priority": "P2",
        "next_runs": ["2099-03-01T02:00:00Z", "2099-03-02T02:00:00Z"],
    },
    {
        "job_id": OTHER,
        "name": None,
        "status": "disabled",
        "trigger": {"kind": "interval", "every": "5m"},
        "priority": "P1",
        "next_runs": [],
    },
]
RUNS: list[Json] = [
    {
        "run_id": f"{JOB}-2-0",
        "job_id": JOB,
        "nominal_time": "2020-03-02T02:00:00Z",
        "state": "failed",
        "attempts": [
            {"attempt": 0, "state": "lost"},
            {
                "attempt": 1,
                "state": "failed",
                "started": "2020-03-02T02:00:01Z",
                "finished": "2020-03-02T02:00:13Z",
                "exit_code": 3,
                "error": "exit code 3",
            },
        ],
    },
    {
        "run_id": f"{JOB}-1-0",
        "job_id": JOB,
        "nominal_time": "2020-03-01T02:00:00Z",
        "state": "skipped",
        "attempts": [],
    },
]


@pytest.fixture
def full(server: RestServer) -> RestServer:
    server.answer("GET", "jobs", {"items": JOBS, "next_cursor": None})
    for job in JOBS:
        server.answer("GET", f"jobs/{job['job_id']}", job)
        server.answer("GET", f"jobs/{job['job_id']}/runs", {"items": [], "next_cursor": None})
    return server


def without_relative(text: str) -> list[list[str]]:
    """Return the words of a table but for those that depend on the day."""
    return [line.split(" (in ")[0].split() for line in text.splitlines()]


def test_jobs_are_a_table(full: RestServer, shell: Shell) -> None:
    cron = ["0", "3", "*", "*", "*", "Europe/Berlin"]

    assert [
        ["JOB", "NAME", "STATUS", "WHEN", "PRIO", "NEXT"],
        [JOB, "backup", "scheduled", *cron, "P2", "01", "Mar", "2099", "03:00"],
        [OTHER, "-", "disabled", "every", "5m", "P1", "-"],
    ] == without_relative(shell("get", "jobs"))


def test_jobs_are_filtered_by_the_server(full: RestServer, shell: Shell) -> None:
    shell("get", "jobs", "--status", "disabled", "--tag", "team=billing", "--name", "x", "-n", "7")

    assert {"status": ["disabled"], "tag": ["team:billing"], "name": ["x"], "limit": ["7"]} == full.seen[0].query


def test_names_are_ids_one_to_a_line(full: RestServer, shell: Shell) -> None:
    assert f"{JOB}\n{OTHER}\n" == shell("get", "jobs", "-o", "name")


def test_json_is_what_the_server_said(full: RestServer, shell: Shell) -> None:
    assert JOBS == json.loads(shell("get", "jobs", "-o", "json"))


def test_colour_never_goes_to_a_pipe(full: RestServer, shell: Shell) -> None:
    assert "\x1b" not in shell("get", "jobs")


def test_a_job_s_runs_are_a_table(full: RestServer, server: RestServer, shell: Shell) -> None:
    full.replace("GET", f"jobs/{JOB}/runs", {"items": RUNS, "next_cursor": None})

    rows = [line.split() for line in shell("history", JOB).splitlines()]

    assert ["RUN", "STATE", "NOMINAL", "TOOK", "TRIES", "EXIT", "ERROR"] == rows[0]
    assert [f"{JOB}-2-0", "failed", "02", "Mar", "2020", "03:00"] == rows[1][:6]
    assert ["12s", "2", "3", "exit", "code", "3"] == rows[1][-6:]
    assert ["-", "-", "-", "-"] == rows[2][-4:]


def test_runs_of_all_jobs_come_newest_first(full: RestServer, shell: Shell) -> None:
    runs = [{"run_id": str(day), "nominal_time": f"2027-03-0{day}T00:00:00Z", "state": "lost"} for day in range(5)]
    full.replace("GET", f"jobs/{JOB}/runs", {"items": [runs[3], runs[1]], "next_cursor": None})
    full.replace("GET", f"jobs/{OTHER}/runs", {"items": [runs[4], runs[2]], "next_cursor": None})

    assert "4\n3\n2\n" == shell("get", "runs", "-n", "3", "-o", "name")


def test_a_page_about_a_job_holds_its_next_and_its_last_runs(full: RestServer, shell: Shell) -> None:
    status = {"status": "pending", "last_run": None, "next_runs": ["2099-03-01T02:00:00Z"]}
    full.answer("GET", f"jobs/{JOB}/status", status)
    full.replace("GET", f"jobs/{JOB}/runs", {"items": RUNS, "next_cursor": None})

    page = shell("describe", "backup")

    lines = dict(line.split(None, 1) for line in page.splitlines() if line and " " in line)
    assert ("pending", "0 3 * * * Europe/Berlin") == (lines["status"], lines["when"])
    assert lines["next"].startswith("01 Mar 2099 03:00 (in ")
    assert f"{JOB}-2-0" in page


def test_next_of_a_job_shows_the_runs_that_the_server_names(full: RestServer, shell: Shell) -> None:
    page = shell("next", "backup", "-n", "1")

    assert page.startswith("At 03:00 (Europe/Berlin)\n\nLOCAL")
    assert "Sun 2099-03-01 03:00:00 +01:00  2099-03-01T02:00:00Z  in " in page


def test_next_of_a_paused_job_says_that_it_is(full: RestServer, shell: Shell) -> None:
    assert "Every 5 minutes (disabled): never\n" == shell("next", OTHER)


def test_an_explanation_is_sentences(server: RestServer, shell: Shell) -> None:
    answer = {"run_id": "r", "state": "pending", "reasons": ["It waits for a slot.", "3 runs are before it."]}
    server.answer("GET", "runs/r/explain", answer)

    assert "It is pending.\nIt waits for a slot.\n3 runs are before it.\n" == shell("explain", "r")


NODES: list[Json] = [
    {"part": "master", "name": "m1", "url": None},
    {
        "part": "executor",
        "name": "e1",
        "state": "up",
        "free": 3,
        "slots": 4,
        "attempts": ["r/0"],
        "runtimes": ["python", "shell"],
        "tier": 1,
    },
]
SHARDS: list[Json] = [{"shard": 0, "worker": "w1", "slice": 0, "orchestrator": "o1", "term": 2, "from_time": None}]
QUEUES: list[Json] = [{"queue": "1.2.0", "tier": 1, "priority": "P2", "slice": 0, "bundles": 17}]


@pytest.mark.parametrize(
    ("what", "items", "names", "row"),
    [
        ("nodes", NODES, ["m1", "e1"], ["e1", "executor", "up", "3", "4", "1", "python,shell", "-", "1", "-"]),
        ("shards", SHARDS, ["0"], ["0", "w1", "0", "o1", "2", "-"]),
        ("queues", QUEUES, ["1.2.0"], ["1.2.0", "1", "P2", "0", "17"]),
    ],
)
def test_the_system_is_a_table(
    server: RestServer, shell: Shell, what: str, items: list[Json], names: list[str], row: list[str]
) -> None:
    server.answer("GET", f"admin/{what}", {"items": items, "next_cursor": None})

    assert names == shell("get", what, "-o", "name").split()
    assert row == shell("get", what).splitlines()[-1].split()


def test_who_i_am_says_which_server_that_is(server: RestServer, shell: Shell) -> None:
    server.answer("GET", "whoami", {"owner": "local", "role": "operator"})

    assert f"server  {server.url}\nowner   local\nrole    operator\n" == shell("whoami")


def test_the_version_is_told_with_and_without_a_server(server: RestServer, shell: Shell) -> None:
    server.answer("GET", "/version", {"version": "9.9"})

    assert "9.9" == json.loads(shell("version", "-o", "json"))["server"]
    server.replace("GET", "/version", {}, 503)
    assert None is json.loads(shell("--version", "-o", "json"))["server"]
