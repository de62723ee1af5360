"""The api over an embedded server's adapters, without the parts: what is answered, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from chronoshard.compose import Embedded

BODY = {"name": "hello", "task": {"runtime": "shell", "source": "echo hi"}, "trigger": {"kind": "manual"}}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    data: Path = tmp_path_factory.mktemp("api")
    embedded = Embedded(data)
    embedded._server.start()
    headers = {"Authorization": f"Bearer {embedded.token}"}
    with httpx.Client(base_url=f"{embedded.url}/api/v1", headers=headers) as connected:
        yield connected
    embedded._server.stop()
    embedded.adapters.store.close()


def test_the_same_key_and_body_make_one_job(client: httpx.Client) -> None:
    headers = {"Idempotency-Key": "one"}
    answers = [client.post("/jobs", json={**BODY, "name": "one"}, headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()


def test_the_same_key_with_another_body_is_refused(client: httpx.Client) -> None:
    headers = {"Idempotency-Key": "two"}
    client.post("/jobs", json={**BODY, "name": "two"}, headers=headers)
    answer = client.post("/jobs", json={**BODY, "name": "three"}, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency.reused")


def test_a_refused_request_may_be_mended_under_its_key(client: httpx.Client) -> None:
    headers = {"Idempotency-Key": "mended"}
    first = client.post("/jobs", json={"name": "mended"}, headers=headers)
    second = client.post("/jobs", json={**BODY, "name": "mended"}, headers=headers)
    assert (first.status_code, second.status_code) == (422, 201)


def test_a_stale_version_changes_nothing(client: httpx.Client) -> None:
    made = client.post("/jobs", json={**BODY, "name": "stale"})
    path, etag = f"/jobs/{made.json()['job_id']}", made.headers["etag"]
    changed = client.patch(path, json={"priority": "P1"}, headers={"If-Match": etag})
    refused = client.patch(path, json={"priority": "P3"}, headers={"If-Match": etag})
    assert (changed.status_code, refused.status_code) == (200, 412)
    assert client.get(path).json()["priority"] == "P1"


def test_a_deleted_job_is_gone_and_its_name_is_free(client: httpx.Client) -> None:
    made = client.post("/jobs", json={**BODY, "name": "gone"}).json()
    deleted = client.delete(f"/jobs/{made['job_id']}")
    assert deleted.json() == {"job_id": made["job_id"], "status": "deleted", "running": []}
    assert client.get(f"/jobs/{made['job_id']}").status_code == 404
    assert client.post("/jobs", json={**BODY, "name": "gone"}).status_code == 201


@pytest.mark.parametrize(
    ("body", "status", "pointer"),
    [
        ({**BODY, "nmae": "x"}, 422, "/nmae"),
        ({**BODY, "timeout": -1}, 422, "/timeout"),
        ({**BODY, "name": "x" * 201}, 422, "/name"),
        ({**BODY, "trigger": {"kind": "cron", "schedule": "0 0 30 2 *"}}, 422, "/trigger/schedule"),
    ],
)
def test_a_bad_field_is_named(client: httpx.Client, body: object, status: int, pointer: str) -> None:
    answer = client.post("/jobs", json=body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (status, pointer)


def test_json_that_is_broken_is_no_request(client: httpx.Client) -> None:
    answer = client.post("/jobs", content=b'{"a": NaN}')
    assert (answer.status_code, answer.json()["code"]) == (400, "json.malformed")


def test_nothing_is_told_without_a_token(client: httpx.Client) -> None:
    answer = client.get("/jobs", headers={"Authorization": ""})
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")


def test_the_ledger_of_nothing_is_clean(client: httpx.Client) -> None:
    answer = client.get("/admin/verify").json()
    assert (answer["ok"], answer["problems"]) == (True, [])


def test_calls_of_a_batch_are_answered_each_by_itself(client: httpx.Client) -> None:
    url = client.base_url.join("/rpc")
    calls = [{"jsonrpc": "2.0", "method": "nothing"}, {"jsonrpc": "2.0", "method": "nothing", "id": 1}, 1]
    codes = [one["error"]["code"] for one in client.post(url, json=calls).json()]
    assert codes == [-32601, -32600]
