"""The client repeats what is safe to repeat, a bounded number of times, and nothing else."""

from __future__ import annotations

import pytest
from recording import NO_ANSWER, RestServer

from chronoshard.client import Client
from chronoshard.client.transport import RETRY_DELAYS_S
from chronoshard.errors import Conflict, InvalidInput, StaleVersion, Unavailable

JOB = {"job_id": "a" * 32}


class Pauses(list[float]):
    """Remembers how long the client wanted to wait, and does not."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def test_a_lost_answer_is_asked_for_again_under_the_same_key(server: RestServer) -> None:
    server.reply("POST", "jobs", NO_ANSWER)
    server.answer("POST", "jobs", JOB, 201)

    with Client(server.url, "secret", pause=Pauses()) as client:
        assert JOB == client.jobs.create({"trigger": {"kind": "now"}})

    first, second = server.asked("POST", "jobs")
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert first.content == second.content


def test_two_calls_have_two_keys(server: RestServer) -> None:
    server.answer("POST", "jobs", JOB, 201)

    with Client(server.url, "secret") as client:
        client.jobs.create({})
        client.jobs.create({})

    assert 2 == len({seen.headers["idempotency-key"] for seen in server.seen})


def test_tries_are_bounded_and_pauses_grow(server: RestServer) -> None:
    server.reply("GET", "whoami", NO_ANSWER)
    pauses = Pauses()

    with Client(server.url, "secret", pause=pauses) as client, pytest.raises(Unavailable) as caught:
        client.whoami()

    assert "server.unreachable" == caught.value.code
    assert list(RETRY_DELAYS_S) == pauses
    assert len(RETRY_DELAYS_S) + 1 == len(server.seen)


def test_an_answer_is_never_asked_for_twice(server: RestServer) -> None:
    server.refuse("POST", "jobs", 422, "cron.fields", "needs 5")

    with Client(server.url, "secret", pause=Pauses()) as client, pytest.raises(InvalidInput):
        client.jobs.create({})

    assert 1 == len(server.seen)


def test_a_first_try_that_still_runs_is_waited_for(server: RestServer) -> None:
    server.reply("POST", "jobs", NO_ANSWER)
    server.refuse("POST", "jobs", 409, "idempotency.under_way", "the first one is still at it")
    server.answer("POST", "jobs", JOB, 201)

    with Client(server.url, "secret", pause=Pauses()) as client:
        assert JOB == client.jobs.create({})


def test_another_conflict_is_final(server: RestServer) -> None:
    server.refuse("POST", "jobs", 409, "name.taken", "taken")

    with Client(server.url, "secret", pause=Pauses()) as client, pytest.raises(Conflict):
        client.jobs.create({})

    assert 1 == len(server.seen)


def test_an_etag_goes_back_as_if_match(server: RestServer) -> None:
    server.answer("GET", "jobs/1", JOB, ETag='"3"')
    server.refuse("PATCH", "jobs/1", 412, "conflict.stale", "it has changed")

    with Client(server.url, "secret") as client, pytest.raises(StaleVersion):
        client.jobs.change("1", {"name": "n"}, if_match=client.jobs.get("1").etag)

    assert '"3"' == server.asked("PATCH", "jobs/1")[0].headers["if-match"]


def test_every_request_carries_the_token(server: RestServer) -> None:
    server.answer("GET", "whoami", {"owner": "local"})

    with Client(server.url, "secret") as client:
        client.whoami()

    assert "Bearer secret" == server.seen[0].headers["authorization"]


def test_lists_are_read_page_by_page_up_to_the_limit(server: RestServer) -> None:
    server.answer("GET", "jobs", {"items": [{"n": 1}, {"n": 2}], "next_cursor": "c1"})
    server.answer("GET", "jobs", {"items": [{"n": 3}], "next_cursor": "c2"})

    with Client(server.url, "secret") as client:
        found = list(client.jobs.list(tags=["a:1", "b:2"], limit=3))

    assert [{"n": 1}, {"n": 2}, {"n": 3}] == found
    first, second = server.asked("GET", "jobs")
    assert {"limit": ["3"], "tag": ["a:1", "b:2"]} == first.query
    assert {"limit": ["1"], "tag": ["a:1", "b:2"], "cursor": ["c1"]} == second.query


@pytest.mark.parametrize("url", ["", "localhost:8480", "ftp://somewhere", "http://", "http://[", "http://a:b"])
def test_a_url_that_is_none_is_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Client(url)

    assert "url.invalid" == caught.value.code
