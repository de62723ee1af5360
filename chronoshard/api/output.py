"""What attempts printed: from the blob store once they have ended, from their executor while they run."""

from __future__ import annotations

from typing import NamedTuple

from chronoshard.api.context import Context
from chronoshard.api.documents import Attempt
from chronoshard.domain.identity import AttemptKey, Run
from chronoshard.domain.states import State
from chronoshard.errors import LinkError, NotFound
from chronoshard.link import Stream

STREAMS: tuple[Stream, ...] = ("stdout", "stderr")


class Piece(NamedTuple):
    """Bytes of one stream. `done`: nothing is added any more; `truncated`: more was printed than is kept."""

    data: bytes
    done: bool
    truncated: bool


def chosen(attempts: list[Attempt], number: int | None) -> Attempt:
    """Return the attempt asked for; without a number the last one that has begun. Raises NotFound."""
    if number is None:
        return next((one for one in reversed(attempts) if one.state is not None), attempts[-1])
    found = next((one for one in attempts if one.attempt == number), None)
    if found is None:
        raise NotFound(f"the run has no attempt {number}", code="attempt.not_found", pointer="/attempt")
    return found


def read(context: Context, run: Run, attempt: Attempt, stream: Stream, *, offset: int, limit: int) -> Piece:
    """Return up to `limit` bytes of a stream from `offset` on."""
    key = AttemptKey(attempt.due_ms, run.job_id, run.nominal_ms, run.origin, attempt.attempt)
    if attempt.state is None:
        return Piece(b"", False, False)
    if attempt.state is State.RUNNING:
        return _tail(context, key, attempt.executor, stream, offset, limit)
    data = context.blobs.read(_blob(key, stream), offset, limit) or b""
    return Piece(data, len(data) < limit, _is_truncated(attempt, stream))


def _tail(
    context: Context, key: AttemptKey, executor: str | None, stream: Stream, offset: int, limit: int
) -> Piece:
    for beat in context.store.executors.beats():
        if beat.executor != executor:
            continue
        try:
            tail = context.executor_links(beat.address).tail(key, stream, offset, limit)
        except LinkError:
            continue  # it comes from the blob store in a moment, or from the next attempt
        if tail is not None:
            return Piece(tail.data, False, False)
    data = context.blobs.read(_blob(key, stream), offset, limit) or b""
    return Piece(data, False, False)


def _blob(key: AttemptKey, stream: Stream) -> str:
    return f"output/{key.job_id}/{key.run.id}/{key.attempt}/{stream}"


def _is_truncated(attempt: Attempt, stream: Stream) -> bool:
    output = attempt.output
    return output is not None and (output.stdout_truncated if stream == "stdout" else output.stderr_truncated)
