"""Output that is followed arrives once and whole, whatever happens to the connection."""

from __future__ import annotations

import json

import pytest
from recording import NO_ANSWER, Reply, RestServer

from chronoshard.client import Client
from chronoshard.errors import NotFound, Unavailable

PATH = "runs/r/output/stream"


def events(*chunks: tuple[int, str], end: bool = False, drop: bool = False) -> Reply:
    lines = [f"id: {offset + len(text)}\ndata: {_chunk(offset, text)}\n\n" for offset, text in chunks]
    last = "event: end\ndata: {}\n\n" if end else ""
    content = ": keep-alive\n\n" + "".join(lines) + last
    return Reply(200, content.encode(), {"Content-Type": "text/event-stream"}, drop)


def _chunk(offset: int, text: str) -> str:
    return json.dumps({"offset": offset, "text": text})


def followed(server: RestServer) -> list[str]:
    with Client(server.url, "secret", pause=lambda _: None) as client:
        return [chunk.text for chunk in client.runs.follow("r")]


def test_a_stream_is_read_to_its_end(server: RestServer) -> None:
    server.reply("GET", PATH, events((0, "a\n"), (2, "b\n"), end=True))

    assert ["a\n", "b\n"] == followed(server)
    assert 1 == len(server.seen)


def test_a_broken_stream_goes_on_after_the_last_event(server: RestServer) -> None:
    server.reply("GET", PATH, events((0, "a\n"), (2, "b\n"), drop=True))
    server.reply("GET", PATH, NO_ANSWER)
    server.reply("GET", PATH, events((4, "c\n"), end=True))

    assert ["a\n", "b\n", "c\n"] == followed(server)
    assert [None, "4", "4"] == [seen.headers.get("last-event-id") for seen in server.seen]


def test_a_stream_that_merely_stops_goes_on(server: RestServer) -> None:
    server.reply("GET", PATH, events((0, "a\n")))
    server.reply("GET", PATH, events((2, "b\n"), end=True))

    assert ["a\n", "b\n"] == followed(server)


def test_a_server_that_stays_away_ends_the_following(server: RestServer) -> None:
    server.reply("GET", PATH, NO_ANSWER)

    with pytest.raises(Unavailable):
        followed(server)


def test_a_refusal_is_an_error_at_once(server: RestServer) -> None:
    server.refuse("GET", PATH, 404, "run.not_found", "no such run")

    with pytest.raises(NotFound) as caught:
        followed(server)

    assert ("run.not_found", 1) == (caught.value.code, len(server.seen))
