"""A job: its head, which changes; its specs, which never do; and the timeline that says which trigger owned when.

The head is small and is what every decision reads; a spec is immutable under (job, generation) and may be
cached for ever.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import msgspec

from chronoshard.domain.catchup import Catchup
from chronoshard.domain.retry import RetryPolicy
from chronoshard.domain.trigger import Dst, Now, Once, Trigger

EDIT_DELAY_MS = 5_000  # an edit, a pause, a resume holds from then on: clocks that differ a little agree on it
TIMELINE_MS = 7 * 86_400_000  # the timetable's retention: older entries own nothing that may still run

Overlap = Literal["allow", "skip", "queue"]


class Status(StrEnum):
    """`finished` is not stored: a job has finished when its trigger has no occurrence left."""

    SCHEDULED = "scheduled"
    DISABLED = "disabled"
    DELETED = "deleted"


class HttpCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """The HTTP request that a job of runtime `http` makes."""

    url: str
    method: str = "GET"
    headers: dict[str, str] = {}
    body: str = ""


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """From `from_ms` on, `trigger` owns the nominal times; None: nobody does (paused, deleted)."""

    from_ms: int
    generation: int
    trigger: Trigger | None


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What a job is now. Changed only by compare-and-set on `generation` (and `live_run` on itself)."""

    job_id: str
    owner: str
    generation: int
    status: Status
    timeline: tuple[Entry, ...]
    created_ms: int
    updated_ms: int
    name: str | None = None
    reason: str | None = None
    runtime: str = "shell"
    priority: int = 2
    tier: int = 1
    catchup: Catchup = Catchup()
    overlap: Overlap = "allow"
    dst: Dst = Dst()
    tags: dict[str, str] = {}
    body_hash: str = ""
    live_run: str | None = None

    @property
    def trigger(self) -> Trigger | None:
        """The trigger that owns the future."""
        return self.timeline[-1].trigger

    def owner_of(self, nominal_ms: int) -> Entry | None:
        """Return the entry that owns a nominal time."""
        for entry in reversed(self.timeline):
            if entry.from_ms <= nominal_ms:
                return entry
        return None

    def stopped_generation(self) -> int:
        """Return the generation of the last pause or delete: what was accepted before it does not start."""
        return max((e.generation for e in self.timeline if e.trigger is None), default=0)


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """What a generation of a job runs. `params` is a JSON object as text; `trigger` as the user gave it."""

    job_id: str
    generation: int
    trigger: Trigger
    runtime: str
    task_id: str = ""
    http: HttpCall | None = None
    params: bytes = b"{}"
    retries: RetryPolicy = RetryPolicy()
    timeout_ms: int = 3_600_000


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A run that somebody asked for. Made before any row, so that a repeated request finds the first one.

    `generation` is the job's when it was accepted; `params` are merged over the job's.
    """

    job_id: str
    nominal_ms: int
    origin: int
    owner: str
    generation: int
    params: bytes = b"{}"


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """Written before a create or an edit, so that what a dead api left half done is finished by others."""

    minute: int
    job_id: str
    owner: str
    generation: int
    name: str | None = None
    old_name: str | None = None


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """One record for all the occurrences in [from_ms, until_ms) that were not made into rows."""

    job_id: str
    from_ms: int
    until_ms: int
    reason: str


def first_entry(trigger: Trigger, *, now_ms: int) -> Entry:
    """Return how a new job's timeline begins."""
    at_ms = trigger.at_ms if isinstance(trigger, Once | Now) else now_ms
    return Entry(min(at_ms, now_ms), 1, trigger)


def append_entry(
    timeline: tuple[Entry, ...], trigger: Trigger | None, *, generation: int, now_ms: int
) -> tuple[Entry, ...]:
    """Return the timeline after an edit, pause, resume or delete, without what is too old to matter."""
    from_ms = max(now_ms + EDIT_DELAY_MS, timeline[-1].from_ms)
    kept = timeline
    while len(kept) > 1 and kept[1].from_ms < now_ms - TIMELINE_MS:
        kept = kept[1:]
    return (*kept, Entry(from_ms, generation, trigger))
