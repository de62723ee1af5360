"""Each request of the REST surface has its method, and each method asks for what it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from recording import RestServer

from chronoshard.client import Client

ANSWER = {"items": [], "next_cursor": None, "results": []}
WHEN = {"from_": "2027-03-01T00:00:00Z", "to": "2027-03-02T00:00:00Z"}
WINDOW = {"from": [WHEN["from_"]], "to": [WHEN["to"]]}
PAGE = {"limit": ["200"]}

Call = Callable[[Client], object]

READS: list[tuple[Call, str, dict[str, list[str]]]] = [
    (lambda c: c.version(), "/version", {}),
    (lambda c: c.whoami(), "whoami", {}),
    (lambda c: c.tasks.get("sha256:1"), "tasks/sha256:1", {}),
    (
        lambda c: list(c.jobs.list(status="disabled", name="n", tags=["a:b"])),
        "jobs",
        {**PAGE, "status": ["disabled"], "name": ["n"], "tag": ["a:b"]},
    ),
    (lambda c: c.jobs.get("j"), "jobs/j", {}),
    (lambda c: c.jobs.status("j"), "jobs/j/status", {}),
    (lambda c: list(c.jobs.runs("j", state="lost", **WHEN)), "jobs/j/runs", {**PAGE, "state": ["lost"], **WINDOW}),
    (lambda c: c.runs.get("r"), "runs/r", {}),
    (
        lambda c: c.runs.output("r", attempt=1, offset=5, stream="stderr"),
        "runs/r/output",
        {"attempt": ["1"], "offset": ["5"], "stream": ["stderr"]},
    ),
    (lambda c: c.runs.explain("r"), "runs/r/explain", {}),
    (lambda c: list(c.admin.tokens()), "admin/tokens", PAGE),
    (lambda c: list(c.admin.nodes()), "admin/nodes", PAGE),
    (lambda c: list(c.admin.shards()), "admin/shards", PAGE),
    (lambda c: list(c.admin.minutes(**WHEN)), "admin/minutes", {**PAGE, **WINDOW}),
    (lambda c: list(c.admin.queues()), "admin/queues", PAGE),
    (lambda c: list(c.admin.audit(limit=7)), "admin/audit", {"limit": ["7"]}),
    (lambda c: c.admin.setting("pids"), "admin/settings/pids", {}),
    (lambda c: c.admin.verify(**WHEN), "admin/verify", WINDOW),
    (lambda c: c.admin.doctor(), "admin/doctor", {}),
]

WRITES: list[tuple[Call, str, str, Any]] = [
    (lambda c: c.tasks.create("shell", "ls", key="k"), "POST", "tasks", {"runtime": "shell", "source": "ls"}),
    (lambda c: c.jobs.create({"name": "n"}, key="k"), "POST", "jobs", {"name": "n"}),
    (lambda c: c.jobs.create_batch([{"name": "n"}], key="k"), "POST", "jobs/batch", {"jobs": [{"name": "n"}]}),
    (lambda c: c.jobs.change("j", {"name": "n"}, key="k"), "PATCH", "jobs/j", {"name": "n"}),
    (
        lambda c: c.jobs.set_status("j", "disabled", reason="r", key="k"),
        "PUT",
        "jobs/j/status",
        {"status": "disabled", "reason": "r"},
    ),
    (lambda c: c.jobs.delete("j", key="k"), "DELETE", "jobs/j", None),
    (lambda c: c.jobs.run("j", params={"a": 1}, key="k"), "POST", "jobs/j/runs", {"params": {"a": 1}}),
    (lambda c: c.jobs.run("j", key="k"), "POST", "jobs/j/runs", {}),
    (lambda c: c.runs.cancel("r", key="k"), "POST", "runs/r/cancel", None),
    (lambda c: c.runs.retry("r", key="k"), "POST", "runs/r/retry", None),
    (lambda c: c.admin.create_token("o", "user", key="k"), "POST", "admin/tokens", {"owner": "o", "role": "user"}),
    (lambda c: c.admin.revoke_token("t", key="k"), "DELETE", "admin/tokens/t", None),
    (lambda c: c.admin.drain("e", key="k"), "POST", "admin/executors/e/drain", None),
    (lambda c: c.admin.undrain("e", key="k"), "POST", "admin/executors/e/undrain", None),
    (lambda c: c.admin.change_setting("pids", 9, key="k"), "PUT", "admin/settings/pids", {"value": 9}),
]


@pytest.mark.parametrize(
    ("call", "path", "query"), READS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_read_asks_for_its_path(server: RestServer, call: Call, path: str, query: dict[str, list[str]]) -> None:
    server.answer("GET", path, ANSWER)

    with Client(server.url, "secret") as client:
        call(client)

    assert [("GET", query)] == [(seen.method, seen.query) for seen in server.seen]


@pytest.mark.parametrize(
    ("call", "method", "path", "body"), WRITES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_write_sends_its_body_under_the_key(
    server: RestServer, call: Call, method: str, path: str, body: object
) -> None:
    server.answer(method, path, ANSWER)

    with Client(server.url, "secret") as client:
        call(client)

    (seen,) = server.asked(method, path)
    assert (body, "k") == (seen.body if seen.content else None, seen.headers["idempotency-key"])


def test_a_preview_is_no_write_of_a_job(server: RestServer) -> None:
    server.answer("POST", "schedules/preview", {"description": "d", "times": []})

    with Client(server.url, "secret") as client:
        client.preview({"kind": "manual"}, dst={"gap": "skip"}, count=3)

    assert {"trigger": {"kind": "manual"}, "count": 3, "dst": {"gap": "skip"}} == server.seen[0].body


def test_ids_cannot_leave_their_place_in_a_path(server: RestServer) -> None:
    server.answer("GET", "runs/..%2Fadmin%2Ftokens", {"state": "x"})

    with Client(server.url, "secret") as client:
        client.runs.get("../admin/tokens")

    assert ["/api/v1/runs/..%2Fadmin%2Ftokens"] == [seen.path for seen in server.seen]
