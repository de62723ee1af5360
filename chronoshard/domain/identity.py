"""Who is who: jobs, runs, attempts, and the partition each attempt lives in.

Identity is a pure function of (job, nominal, origin, attempt) (invariant 2): the same run has the same id and
the same place whoever computes it, and nothing that happens around a run changes either.
"""

from __future__ import annotations

import hashlib
import re
import uuid
import zlib
from typing import NamedTuple

import msgspec

from chronoshard.errors import NotFound

MINUTE_MS = 60_000
SCHEDULE = 0  # origin of a run that a trigger made; every other origin is 63 bits of a request's key
_RUN_ID = re.compile(r"([0-9a-f]{32})-(0|[1-9a-f][0-9a-f]{0,11})-(0|[1-7][0-9a-f]{15}|[1-9a-f][0-9a-f]{0,14})")
_NAMESPACE = uuid.UUID("5f1f5e8e-9c1f-5b0e-8d5a-6d1a2f4b7c90")


class Partition(NamedTuple):
    """What the master assigns and a shard worker owns. `minute` is epoch seconds // 60."""

    minute: int
    shard: int


class Run(NamedTuple):
    """What one nominal time, or one request, leads to. Times are UTC epoch milliseconds."""

    job_id: str
    nominal_ms: int
    origin: int

    @property
    def id(self) -> str:
        """Reversible text, safe in URLs and file names, one word to double-click on."""
        return f"{self.job_id}-{self.nominal_ms:x}-{self.origin:x}"


class AttemptKey(msgspec.Struct, frozen=True, array_like=True, order=True):
    """One row of the timetable inside its partition, in the order in which the partition is read."""

    due_ms: int
    job_id: str
    nominal_ms: int
    origin: int
    attempt: int

    @property
    def run(self) -> Run:
        return Run(self.job_id, self.nominal_ms, self.origin)

    @property
    def minute(self) -> int:
        return self.due_ms // MINUTE_MS

    @property
    def name(self) -> str:
        """`RUN/ATTEMPT`, for logs and for what an executor is asked about."""
        return f"{self.run.id}/{self.attempt}"


def parse_run_id(text: str) -> Run:
    """Return the run that `text` names; raise NotFound when no run can have this id."""
    match = _RUN_ID.fullmatch(text)
    if match is None:
        raise NotFound(f"no run has an id of this form: {text[:80]!r}", code="run.not_found")
    return Run(match[1], int(match[2], 16), int(match[3], 16))


def new_job_id() -> str:
    """Return a fresh job id: 32 hexadecimal digits."""
    return uuid.uuid4().hex


def job_id_for(owner: str, key: str) -> str:
    """Return the id of the job that `owner` creates under an idempotency key: always the same one."""
    return uuid.uuid5(_NAMESPACE, f"{owner}\0{key}").hex


def origin_for(key: str) -> int:
    """Return the origin of the run that a request with this key asks for: positive, never SCHEDULE.

    63 bits of the key's hash, so that it fits a signed 64-bit column.
    """
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") >> 1 or 1


def shard_of(job_id: str, shards: int) -> int:
    """Return hash(job_id) % shards. `shards` is fixed when a system is installed."""
    return zlib.crc32(job_id.encode()) % shards


def minute_of(time_ms: int) -> int:
    return time_ms // MINUTE_MS


def partition_of(key: AttemptKey, shards: int) -> Partition:
    """Return the partition whose row `key` is: of the minute of its due time and its job's shard."""
    return Partition(key.due_ms // MINUTE_MS, shard_of(key.job_id, shards))
