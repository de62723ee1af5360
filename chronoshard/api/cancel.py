"""Ending a run early, and running one that has ended once more.

A waiting attempt is claimed straight to CANCELLED; a running one is asked to end, and its final state comes from its
executor (design: final states never change, invariant 5).
"""

from __future__ import annotations

import uuid

import structlog

from chronoshard.api.context import Context
from chronoshard.api.finding import no_run, rows_or_not_found
from chronoshard.batches import apply_all
from chronoshard.domain.attempt import AskCancel, Change, Dismiss, OweAgain, Row, successor
from chronoshard.domain.identity import SCHEDULE, Run, partition_of
from chronoshard.domain.job import Head, Status
from chronoshard.domain.liveness import Incarnation
from chronoshard.domain.states import State, is_final
from chronoshard.errors import Conflict, LinkError
from chronoshard.failpoints import failpoint

log = structlog.get_logger(__name__)

TRIES = 10  # changes of the run at the same time that one cancel gives way to
REASON = "cancelled by its owner"


def cancel(context: Context, head: Head, run: Run) -> None:
    """End a run that has not ended; raise Conflict when it has, NotFound when it is not there."""
    for _ in range(TRIES):
        rows = rows_or_not_found(context, head, run)
        last = rows[-1] if rows else None
        if last is None or (last.state is not None and is_final(last.state) and last.next_due_ms is None):
            raise Conflict("the run has ended already", code="run.final")
        if last.state is None:
            done = _dismiss(context, last)
        elif last.state is State.RUNNING:
            done = _ask(context, last)
        else:  # another attempt is owed, and not made yet
            owed = successor(last)
            assert owed is not None
            context.planner.insert([owed])
            done = False
        if done:
            return
    raise Conflict("the run is changing at this very moment", code="run.changing", hint="try again")


def retry(context: Context, head: Head, run: Run) -> None:
    """Have one more attempt of a run that ended badly; raise Conflict where the state forbids it."""
    rows = rows_or_not_found(context, head, run)
    _check_retry(head, run, rows)
    last = rows[-1]
    assert last.state is not None
    partition = partition_of(last.key, context.planner.shards)
    context.store.minutes.reopen([partition])  # a settled minute gets something to follow again
    failpoint("api.reopened")
    again = OweAgain(last.key, last.state, context.clock.now_ms(), head.generation)
    if not apply_all(context.store.timetable, partition, [again]).done:
        raise Conflict("another attempt of the run is owed already", code="run.retrying")
    failpoint("api.owed_again")
    [row] = context.store.timetable.rows([last.key])
    plan = successor(row) if row is not None else None
    if plan is None:
        raise no_run(run.id)
    context.planner.insert([plan])


def _check_retry(head: Head, run: Run, rows: list[Row]) -> None:
    last = rows[-1] if rows else None
    if last is None:
        raise Conflict(
            "the run is older than the timetable's retention", code="run.too_old", hint="run the job now instead"
        )
    if last.state is None or last.state is State.RUNNING or last.next_due_ms is not None:
        raise Conflict("the run has not ended", code="run.not_final", hint="cancel it first, or wait")
    if last.state is State.SUCCEEDED:
        raise Conflict("the run has succeeded", code="run.succeeded", hint="run the job now instead")
    if head.status is Status.DELETED:
        raise Conflict("the run's job has been deleted", code="job.deleted")
    if head.status is Status.DISABLED and run.origin == SCHEDULE:
        raise Conflict("the run's job is paused", code="job.disabled", hint="resume the job, or run it now")


def _dismiss(context: Context, row: Row) -> bool:
    token = f"api.{uuid.uuid4().hex}"
    change = Dismiss(row.key, token, State.CANCELLED, REASON, context.clock.now_ms())
    if not _apply(context, row, change):
        return False
    failpoint("api.cancelled")
    context.following.follow([ended for ended in context.store.timetable.rows([row.key]) if ended is not None])
    return True


def _ask(context: Context, row: Row) -> bool:
    """Note the wish, leave the order for the next beat, and tell the executor at once if it can be reached."""
    if not _apply(context, row, AskCancel(row.key)):
        return False
    failpoint("api.cancel_asked")
    assert row.executor is not None
    assert row.incarnation is not None
    incarnation = Incarnation(row.executor, row.incarnation)
    context.store.executors.order_kills(incarnation, [row.key])
    address = address_of(context, incarnation)
    if address is not None:
        try:
            context.executor_links(address).kill(incarnation.id, [row.key], REASON)
        except LinkError as error:
            log.info("kill.by_beat", executor=incarnation.executor, cause=error.detail)
    return True


def _apply(context: Context, row: Row, change: Change) -> bool:
    partition = partition_of(row.key, context.planner.shards)
    return bool(apply_all(context.store.timetable, partition, [change]).done)


def address_of(context: Context, incarnation: Incarnation) -> str | None:
    """Return where an incarnation said that it is reached; None when it has not beaten lately."""
    for beat in context.store.executors.beats():
        if (beat.executor, beat.incarnation) == incarnation:
            return beat.address
    return None
