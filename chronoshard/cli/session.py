"""What nearly every command begins with: the server, the job that a word means, and the present."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from chronoshard.cli.words import Reader
from chronoshard.client import Client, discover
from chronoshard.client.jobs import Versioned
from chronoshard.client.transport import Json
from chronoshard.clock import SystemClock
from chronoshard.errors import NotFound

_JOB_ID = re.compile(r"[0-9a-f]{32}")


def connect(*, patient: bool = True) -> Client:
    """Return a client of the server that the environment, or this machine, names.

    One that is not patient does not wait for a server that may be just starting.
    """
    server = discover()
    return Client(server.url, server.token, pause=None if patient else lambda _: None)


def reader() -> Reader:
    """Return the view of somebody who looks now, from here."""
    return Reader(SystemClock().now_ms())


def find_job(client: Client, word: str) -> Versioned:
    """Return the job with this id or, failing that, this name."""
    if _JOB_ID.fullmatch(word):
        try:
            return client.jobs.get(word)
        except NotFound:
            pass  # it may still be somebody's idea of a name
    for job in client.jobs.list(name=word, limit=1):
        return client.jobs.get(str(job["job_id"]))
    raise NotFound(f"no job has the name or id {word!r}", code="job.not_found")


def runs_of(client: Client, word: str, **query: Any) -> Iterator[Json]:
    """Yield the runs of the job with this id or name; with its id also those of a deleted one."""
    if _JOB_ID.fullmatch(word):
        try:
            yield from client.jobs.runs(word, **query)
            return
        except NotFound:
            pass
    yield from client.jobs.runs(find_job_id(client, word), **query)


def find_job_id(client: Client, word: str) -> str:
    """Return the id of the job with this id or name."""
    return str(find_job(client, word).job["job_id"])
