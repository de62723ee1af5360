"""Finding a run's attempts: each row's place follows from the one before it, the first one's from the head."""

from __future__ import annotations

from chronoshard.domain.attempt import Row, successor
from chronoshard.domain.identity import SCHEDULE, AttemptKey, Run
from chronoshard.domain.job import Head
from chronoshard.domain.states import State, is_final
from chronoshard.domain.trigger import due_ms
from chronoshard.ports import Store


def first_keys(head: Head | None, run: Run) -> list[AttemptKey]:
    """Return where attempt 0 of a run may stand: one place for each jitter its nominal time ever had."""
    dues = {run.nominal_ms}
    if run.origin == SCHEDULE and head is not None:
        dues |= {due_ms(e.trigger, run.job_id, run.nominal_ms) for e in head.timeline if e.trigger}
    return [AttemptKey(due, run.job_id, run.nominal_ms, run.origin, 0) for due in sorted(dues)]


def attempts_of(store: Store, head: Head | None, run: Run) -> list[Row]:
    """Return the rows of a run in order of attempt; empty when the timetable has none (any more)."""
    found = [row for row in store.timetable.rows(first_keys(head, run)) if row is not None]
    if not found:
        return []
    # An edit of the jitter may leave a second, superseded first row: the one that was not skipped is the run.
    rows = [min(found, key=lambda row: (row.state is State.SKIPPED, row.state is None))]
    while (plan := successor(rows[-1])) is not None:
        [row] = store.timetable.rows([plan.key])
        if row is None:  # owed, not made yet: whoever ended the last attempt, or the health checker, makes it
            break
        rows.append(row)
    return rows


def is_over(rows: list[Row]) -> bool:
    """Say whether a run has ended for good: final, and nothing owed."""
    last = rows[-1] if rows else None
    return last is not None and last.state is not None and is_final(last.state) and last.next_due_ms is None
