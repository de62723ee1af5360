"""Output as server-sent events while a run prints it: each attempt in turn, both streams, nothing twice.

An event's id says how far both streams of an attempt have been sent, so that a connection can go on where another
was lost.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import NamedTuple

import anyio
import msgspec
from starlette.concurrency import run_in_threadpool

from chronoshard.api import output
from chronoshard.api.context import Context
from chronoshard.api.documents import Attempt
from chronoshard.api.finding import attempts
from chronoshard.domain.identity import Run
from chronoshard.domain.job import Head
from chronoshard.domain.states import is_final, run_state
from chronoshard.errors import ChronoshardError
from chronoshard.link import Stream

CHUNK = 64 * 1024  # bytes of one event
POLL_S = 0.3  # between two looks at a run that prints nothing
QUIET_POLLS = 40  # after so many of them a comment keeps the connection alive
_ID = re.compile(r"(\d{1,6})-(\d{1,15})-(\d{1,15})")
_WHOLE = 4  # bytes of the longest character


class _At(NamedTuple):
    """How far has been sent: so many bytes of each stream of this attempt."""

    attempt: int = 0
    stdout: int = 0
    stderr: int = 0

    @property
    def id(self) -> str:
        return f"{self.attempt}-{self.stdout}-{self.stderr}"

    def offset(self, stream: Stream) -> int:
        return self.stdout if stream == "stdout" else self.stderr

    def moved(self, stream: Stream, length: int) -> _At:
        if stream == "stdout":
            return self._replace(stdout=self.stdout + length)
        return self._replace(stderr=self.stderr + length)


class _Look(NamedTuple):
    events: list[bytes]
    at: _At
    over: bool


async def events(context: Context, head: Head, run: Run, last_id: str | None) -> AsyncIterator[bytes]:
    """Yield the events of a run's output from after `last_id` to its end."""
    match = _ID.fullmatch(last_id or "")
    at = _At(*(int(number) for number in match.groups())) if match is not None else _At()
    quiet = 0
    while True:
        try:
            look = await run_in_threadpool(_look, context, head, run, at)
        except ChronoshardError:
            return  # the client comes again with the last id that it saw
        for event in look.events:
            yield event
        at = look.at
        if look.over:
            yield b"event: end\ndata: {}\n\n"
            return
        if look.events:
            quiet = 0
            continue
        quiet += 1
        if quiet % QUIET_POLLS == 0:
            yield b": waiting\n\n"
        await _pause()


async def _pause() -> None:
    with anyio.move_on_after(POLL_S):
        await anyio.Event().wait()


def _look(context: Context, head: Head, run: Run, at: _At) -> _Look:
    """Return what has been printed since, a piece of each stream at most."""
    found = attempts(context, head, run)
    attempt = next((one for one in found if one.attempt == at.attempt), None)
    told: list[bytes] = []
    if attempt is not None:
        for stream in output.STREAMS:
            at, event = _piece(context, run, attempt, stream, at)
            told += event
    if told or attempt is None or attempt.state is None or not is_final(attempt.state):
        return _Look(told, at, False)
    if any(one.attempt > at.attempt for one in found):
        return _look(context, head, run, _At(at.attempt + 1))
    waits = run_state(found, context.clock.now_ms()) == "retrying"
    return _Look([], at, not waits)


def _piece(context: Context, run: Run, attempt: Attempt, stream: Stream, at: _At) -> tuple[_At, list[bytes]]:
    offset = at.offset(stream)
    piece = output.read(context, run, attempt, stream, offset=offset, limit=CHUNK)
    data = _whole_characters(piece.data, last=piece.done)
    if not data:
        return at, []
    at = at.moved(stream, len(data))
    body = msgspec.json.encode({"offset": offset, "text": data.decode(errors="replace"), "stream": stream})
    return at, [b"id: %s\ndata: %s\n\n" % (at.id.encode(), body)]


def _whole_characters(data: bytes, *, last: bool) -> bytes:
    """Return the data without a character at its end that has not come as a whole."""
    if last:
        return data
    for back in range(1, min(_WHOLE, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            break
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data if back >= needed else data[:-back]
    return data
