"""History: the same row whoever writes it, read newest first."""

from __future__ import annotations

from store_values import DUE_MS, JOB, ended, job_ids

from chronoshard.domain.history import HistoryRow
from chronoshard.domain.identity import Run
from chronoshard.domain.states import Cause, State
from chronoshard.ports import Store

RUN = Run(JOB, DUE_MS, 0)


def test_a_row_is_read_back_whole(store: Store) -> None:
    bare = HistoryRow(
        Run(JOB, DUE_MS - 1, 2**63 - 1), 0, "ann", State.SKIPPED, Cause.REQUEST, DUE_MS, DUE_MS, reason="paused"
    )

    store.history.write([ended(RUN, next_due_ms=DUE_MS + 5), bare])

    assert [ended(RUN, next_due_ms=DUE_MS + 5), bare] == store.history.of_job(JOB, before=None, limit=9)


def test_writing_again_changes_nothing(store: Store) -> None:
    store.history.write([ended(RUN), ended(RUN)])
    store.history.write([ended(RUN)])
    store.history.write([])

    assert [ended(RUN)] == store.history.of_job(JOB, before=None, limit=9)


def test_what_a_later_retry_owes_is_added_and_stays(store: Store) -> None:
    """A slow writer, who has not seen the retry, does not take it away again."""
    store.history.write([ended(RUN)])
    store.history.write([ended(RUN, next_due_ms=DUE_MS + 5)])
    store.history.write([ended(RUN)])

    assert [ended(RUN, next_due_ms=DUE_MS + 5)] == store.history.of_run(RUN)


def test_a_job_s_attempts_come_newest_first_page_by_page(store: Store) -> None:
    newest = [
        ended(Run(JOB, DUE_MS + 9, 0)),
        ended(Run(JOB, DUE_MS, 7), attempt=1),
        ended(Run(JOB, DUE_MS, 7), attempt=0),
        ended(Run(JOB, DUE_MS, 0), attempt=10),
        ended(Run(JOB, DUE_MS, 0), attempt=9),
    ]
    store.history.write([*reversed(newest), ended(Run(job_ids(2)[1], DUE_MS, 0))])

    assert newest[:2] == store.history.of_job(JOB, before=None, limit=2)
    assert newest[2:] == store.history.of_job(JOB, before=newest[1], limit=9)
    assert [] == store.history.of_job(JOB, before=newest[4], limit=9)
    assert [] == store.history.of_job("missing", before=None, limit=9)


def test_a_run_s_attempts_come_in_order(store: Store) -> None:
    attempts = [ended(RUN, attempt=n) for n in (0, 1, 2, 10)]
    store.history.write([*reversed(attempts), ended(Run(JOB, DUE_MS, 1)), ended(Run(JOB, DUE_MS + 1, 0))])

    assert attempts == store.history.of_run(RUN)
    assert [] == store.history.of_run(Run(JOB, DUE_MS, 2))
