"""Jobs that forbid two runs at a time: the head's `live_run`, always checked against that run's own rows.

Because the run's rows are the truth and `live_run` only names it, a process that dies in between leaks nothing.
"""

from __future__ import annotations

from chronoshard.domain.identity import Run, parse_run_id
from chronoshard.domain.job import Head
from chronoshard.ports import Store
from chronoshard.runs import attempts_of, is_over


def is_free(store: Store, head: Head, run: Run) -> bool:
    """Say whether `run` may become, or is, its job's live run; clears one that has ended."""
    if head.overlap == "allow" or head.live_run in (None, run.id):
        return True
    assert head.live_run is not None
    if not is_over(attempts_of(store, head, parse_run_id(head.live_run))):
        return False
    return store.jobs.set_live_run(head.job_id, expected=head.live_run, run_id=None)


def take(store: Store, head: Head, run: Run) -> bool:
    """Make `run` its job's live run; False when another one is."""
    if not is_free(store, head, run):
        return False
    return store.jobs.set_live_run(head.job_id, expected=None, run_id=run.id) or head.live_run == run.id
