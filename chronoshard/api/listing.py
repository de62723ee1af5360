"""Lists of jobs and of a job's runs: newest first, a page at a time, however long the whole is.

A page looks at so many candidates at most (invariant 11): when a filter leaves few of them, the page is short and
its cursor says where to go on.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from chronoshard.api.auth import Caller
from chronoshard.api.context import Context
from chronoshard.api.create import specs_of
from chronoshard.api.documents import Document, job_document, of_history, of_row, run_document
from chronoshard.api.expected import nominals_before
from chronoshard.api.finding import attempts_of_many
from chronoshard.api.pagination import page, position_of
from chronoshard.api.statuses import DAY_MS, statuses
from chronoshard.domain.history import HistoryRow
from chronoshard.domain.identity import SCHEDULE, Run
from chronoshard.domain.job import Head, Status
from chronoshard.domain.states import Cause, State

CHUNK = 200
MAX_EXAMINED = 4_000
_FOR_EVER_MS = 1 << 52

Place = tuple[int, int]  # (nominal, origin): where a run stands in its job's history


class Wanted(NamedTuple):
    """Which jobs. `tags` must all be there."""

    status: str | None = None
    name: str | None = None
    tags: Mapping[str, str] = {}


class Window(NamedTuple):
    """Which runs: nominal times in [from, to], in this state."""

    state: str | None = None
    from_ms: int = 0
    to_ms: int = _FOR_EVER_MS


def job_page(context: Context, caller: Caller, wanted: Wanted, cursor: str | None, limit: int) -> Document:
    before = position_of(cursor, str) or ""
    found: list[tuple[Head, str]] = []
    examined = 0
    while examined < MAX_EXAMINED:
        chunk = _heads(context, caller, wanted, before)
        told = statuses(context, [head for head in chunk if _matches(head, wanted)])
        for head in chunk:
            before = head.job_id
            if head.job_id in told and wanted.status in (None, told[head.job_id]):
                found.append((head, told[head.job_id]))
            if len(found) == limit:
                last = head is chunk[-1] and len(chunk) < CHUNK
                return page(_documents(context, found), None if last else before)
        examined += len(chunk)
        if len(chunk) < CHUNK or wanted.name is not None:
            return page(_documents(context, found), None)
    return page(_documents(context, found), before)


def run_page(context: Context, head: Head, window: Window, cursor: str | None, limit: int) -> Document:
    """Return a job's runs, newest first, from the timetable and the history together."""
    place = position_of(cursor, tuple[int, int]) or (min(window.to_ms, context.clock.now_ms()) + 1, -1)
    places = _places(context, head, place, window.from_ms)
    items: list[Document] = []
    for examined in range(0, MAX_EXAMINED, CHUNK):
        chunk = list(islice(places, CHUNK))
        for at, document in _runs(context, head, chunk):
            if window.state in (None, document["state"]):
                items.append(document)
            if len(items) == limit:
                return page(items, at)
        if len(chunk) < CHUNK:
            return page(items, None)
        if items and examined >= CHUNK:
            return page(items, chunk[-1])
    return page(items, chunk[-1])


def _heads(context: Context, caller: Caller, wanted: Wanted, before: str) -> list[Head]:
    jobs = context.store.jobs
    if wanted.name is None:
        return jobs.of_owner(caller.owner, before=before, limit=CHUNK)
    holder = jobs.by_name(caller.owner, wanted.name)
    head = None if holder is None else jobs.heads([holder]).get(holder)
    return [] if head is None or head.status is Status.DELETED or head.name != wanted.name else [head]


def _matches(head: Head, wanted: Wanted) -> bool:
    return all(head.tags.get(key) == value for key, value in wanted.tags.items())


def _documents(context: Context, found: list[tuple[Head, str]]) -> list[Document]:
    specs = specs_of(context, [head for head, _ in found])
    now_ms = context.clock.now_ms()
    return [
        job_document(head, specs[head.job_id], now_ms=now_ms, status=status)
        for head, status in found
        if head.job_id in specs
    ]


def _places(context: Context, head: Head, before: Place, from_ms: int) -> Iterator[Place]:
    """Yield where runs may be, newest first, each once."""
    last: Place | None = None
    sources = (
        _by_schedule(context, head, before[0]),
        _by_request(context, head, before[0]),
        _ended(context, head, before),
    )
    for place in heapq.merge(*sources, reverse=True):
        if place[0] < from_ms:
            return
        if place != last and place < before:
            last = place
            yield place


def _by_schedule(context: Context, head: Head, before_ms: int) -> Iterator[Place]:
    oldest_ms = context.clock.now_ms() - context.settings.timetable_days * DAY_MS
    for nominal_ms in nominals_before(head, before_ms=before_ms + 1, not_before_ms=oldest_ms):
        yield (nominal_ms, SCHEDULE)


def _by_request(context: Context, head: Head, before_ms: int) -> Iterator[Place]:
    high_ms = before_ms + 1
    while asked := context.store.jobs.requests_of(head.job_id, before_ms=high_ms, limit=CHUNK):
        yield from sorted(((one.nominal_ms, one.origin) for one in asked), reverse=True)
        high_ms = asked[-1].nominal_ms


def _ended(context: Context, head: Head, before: Place) -> Iterator[Place]:
    bound = HistoryRow(Run(head.job_id, before[0], max(before[1], 0)), 0, "", State.SKIPPED, Cause.SCHEDULE, 0, 0)
    while rows := context.store.history.of_job(head.job_id, before=bound, limit=CHUNK):
        for row in rows:
            yield (row.run.nominal_ms, row.run.origin)
        bound = rows[-1]


def _runs(context: Context, head: Head, places: list[Place]) -> Iterator[tuple[Place, Document]]:
    runs = [Run(head.job_id, *place) for place in places]
    rows = attempts_of_many(context.store, [(head, run) for run in runs])
    now_ms = context.clock.now_ms()
    oldest_ms = now_ms - context.settings.timetable_days * DAY_MS
    for place, run in zip(places, runs, strict=True):
        attempts = [of_row(row) for row in rows.get(run, ())]
        if not attempts and (run.origin != SCHEDULE or run.nominal_ms < oldest_ms + DAY_MS):
            attempts = [of_history(row) for row in context.store.history.of_run(run)]
        if attempts:
            yield place, run_document(run, attempts, now_ms=now_ms)
