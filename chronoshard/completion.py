"""Finishes a create or an edit that its api left half done, from the intent that was written first.

Everything here may be repeated and may run beside an api that is only slow: whoever changes a name writes first and
looks at the other's write last, so one of the two always sees what the other did (invariant 1).
"""

from __future__ import annotations

from chronoshard.domain.job import Head, Intent, Status
from chronoshard.planning import Planner
from chronoshard.ports import Jobs, Store


def complete(store: Store, planner: Planner, intent: Intent) -> bool:
    """Bring names and first rows in line with the job's head; say whether the job is there.

    The intent of a job that is not there stays: its api may still be on the way.
    """
    head = _head(store.jobs, intent.job_id)
    _drop_others(store.jobs, intent, head)
    if head is None:
        head = _head(store.jobs, intent.job_id)  # inserted while the name was dropped: its api may not look again
    if head is None:
        return False
    keep_name(store.jobs, head)
    if head.status is Status.SCHEDULED:
        planner.begin([head])
    store.jobs.forget_intents([intent])
    return True


def keep_name(jobs: Jobs, head: Head) -> str | None:
    """Make sure that a live job has its name; return the other job that has it instead, None when all is well."""
    if head.name is None or head.status is Status.DELETED:
        return None
    holder = jobs.by_name(head.owner, head.name)
    if holder is None:
        holder = jobs.take_name(head.owner, head.name, head.job_id)
    return None if holder == head.job_id else holder


def _head(jobs: Jobs, job_id: str) -> Head | None:
    return jobs.heads([job_id]).get(job_id)


def _drop_others(jobs: Jobs, intent: Intent, head: Head | None) -> None:
    """Free the names that the job has no right to (any more)."""
    kept = head.name if head is not None and head.status is not Status.DELETED else None
    for name in {intent.name, intent.old_name} - {None, kept}:
        assert name is not None
        jobs.drop_name(intent.owner, name, intent.job_id)
