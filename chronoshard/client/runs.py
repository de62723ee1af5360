"""Runs: what became of them, their output, and what can be done to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote

from chronoshard.client.stream import Chunk, follow
from chronoshard.client.transport import Json, Transport

FINAL = frozenset({"succeeded", "failed", "timed_out", "lost", "cancelled", "skipped"})


class Output(NamedTuple):
    """Bytes of one stream of one attempt; `truncated`: the task printed more than is kept."""

    content: bytes
    truncated: bool


class Runs:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, run_id: str) -> Json:
        """Return `{run_id, job_id, nominal_time, state, attempts, ...}`."""
        answer: Json = self._transport.get(f"runs/{quote(run_id, safe='')}").json()
        return answer

    def output(
        self, run_id: str, *, attempt: int | None = None, offset: int | None = None, stream: str | None = None
    ) -> Output:
        """Return what the last attempt, or `attempt`, has printed, from byte `offset` on."""
        query = {"attempt": attempt, "offset": offset, "stream": stream}
        answer = self._transport.get(f"runs/{quote(run_id, safe='')}/output", query)
        return Output(answer.content, "x-output-truncated" in answer.headers)

    def follow(self, run_id: str) -> Iterator[Chunk]:
        """Yield what the run prints while it prints it, until it has ended."""
        return follow(self._transport, f"runs/{quote(run_id, safe='')}/output/stream")

    def cancel(self, run_id: str, *, key: str | None = None) -> Json:
        return self._act(run_id, "cancel", key)

    def retry(self, run_id: str, *, key: str | None = None) -> Json:
        return self._act(run_id, "retry", key)

    def explain(self, run_id: str) -> Json:
        """Return why it has not started, or what happened to each attempt."""
        answer: Json = self._transport.get(f"runs/{quote(run_id, safe='')}/explain").json()
        return answer

    def _act(self, run_id: str, what: str, key: str | None) -> Json:
        path = f"runs/{quote(run_id, safe='')}/{what}"
        answer: Json = self._transport.write("POST", path, key=key).json()
        return answer
