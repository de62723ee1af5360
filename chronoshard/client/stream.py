"""Following a run's output: server-sent events, resumed after the last one seen when the connection is lost.

No text is given twice and none is left out: the server's event ids say where the next connection begins.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from chronoshard.client.transport import RETRY_DELAYS_S, Transport
from chronoshard.errors import Unavailable

_END = "end"


class Event(NamedTuple):
    """One server-sent event. `id` is None where the server gave none."""

    kind: str
    data: str
    id: str | None


class Chunk(NamedTuple):
    """A piece of output: `offset` in bytes, `stream` is stdout or stderr."""

    offset: int
    text: str
    stream: str


def events(lines: Iterable[str]) -> Iterator[Event]:
    """Yield the events in the lines of a text/event-stream; one that is cut off at the end is dropped."""
    kind, data, event_id = "message", list[str](), None
    for line in lines:
        if line == "":
            if data:
                yield Event(kind, "\n".join(data), event_id)
            kind, data = "message", []
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            kind = value
        elif name == "data":
            data.append(value)
        elif name == "id":
            event_id = value


def follow(transport: Transport, path: str) -> Iterator[Chunk]:
    """Yield the chunks of a stream to its end; raise Unavailable when it cannot be resumed.

    A stream has ended when the server says so; one that merely stops is resumed.
    """
    last_id: str | None = None
    failures = 0
    while True:
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last_id} if last_id else {})}
        try:
            with transport.stream(path, headers) as lines:
                for event in events(lines):
                    failures = 0
                    last_id = event.id or last_id
                    if event.kind == _END:
                        return
                    yield _chunk(event.data)
            raise Unavailable("the server closed the stream before its end", code="server.stream")
        except Unavailable:
            if failures == len(RETRY_DELAYS_S):
                raise
            transport.pause(RETRY_DELAYS_S[failures])
            failures += 1


def _chunk(data: str) -> Chunk:
    record = json.loads(data)
    return Chunk(int(record["offset"]), str(record["text"]), str(record.get("stream", "stdout")))
