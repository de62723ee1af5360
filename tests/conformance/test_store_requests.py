"""Requests: the first one under a key stays, and is what everybody hears of. Skipped ranges add up."""

from __future__ import annotations

from store_values import DUE_MS, JOB, job_ids

from chronoshard.domain.identity import Run
from chronoshard.domain.job import Request, Skipped
from chronoshard.ports import Store

BIG = 2**63 - 1


def request(nominal_ms: int = DUE_MS, origin: int = BIG, *, job_id: str = JOB, params: bytes = b"{}") -> Request:
    return Request(job_id=job_id, nominal_ms=nominal_ms, origin=origin, owner="ann", generation=2, params=params)


def test_of_requests_of_one_origin_the_first_stays(store: Store) -> None:
    first, second = request(params=b'{"n": 1}'), request(DUE_MS + 60_000, params=b'{"n": 2}')

    assert [first] == store.jobs.request([first])
    assert [first] == store.jobs.request([second])
    assert [first] == store.jobs.requests_of(JOB, before_ms=BIG, limit=9)


def test_each_is_answered_in_the_order_asked(store: Store) -> None:
    other_job = job_ids(2)[1]
    old, new, others = request(origin=1), request(origin=2), request(origin=1, job_id=other_job)
    store.jobs.request([old])

    answer = store.jobs.request([new, request(DUE_MS + 5, origin=1), others, request(DUE_MS + 9, origin=2)])

    assert [new, old, others, new] == answer
    assert [] == store.jobs.request([])


def test_requests_are_found_by_run(store: Store) -> None:
    one, two = request(origin=1), request(DUE_MS + 1, origin=2)
    store.jobs.request([one, two])
    runs = {Run(JOB, DUE_MS, 1): one, Run(JOB, DUE_MS + 1, 2): two}

    assert runs == store.jobs.requests({*runs, Run(JOB, DUE_MS, 3), Run("missing", DUE_MS, 1)})
    assert {} == store.jobs.requests([])


def test_another_nominal_time_is_another_run(store: Store) -> None:
    store.jobs.request([request(origin=1)])

    assert {} == store.jobs.requests([Run(JOB, DUE_MS + 1, 1)])


def test_a_job_s_requests_come_newest_first_page_by_page(store: Store) -> None:
    made = [request(DUE_MS + n, origin=n + 1) for n in range(5)]
    store.jobs.request([*made, request(job_id="other")])

    assert [made[4], made[3]] == store.jobs.requests_of(JOB, before_ms=BIG, limit=2)
    assert [made[2], made[1], made[0]] == store.jobs.requests_of(JOB, before_ms=made[3].nominal_ms, limit=9)
    assert [] == store.jobs.requests_of(JOB, before_ms=DUE_MS, limit=9)


def test_skipped_ranges_are_kept_once_each_in_order(store: Store) -> None:
    early = Skipped(job_id=JOB, from_ms=5, until_ms=9, reason="paused")
    late = Skipped(job_id=JOB, from_ms=20, until_ms=30, reason="catchup.latest")
    store.jobs.skip([late, early, Skipped(job_id="other", from_ms=5, until_ms=9, reason="paused")])
    store.jobs.skip([late])
    store.jobs.skip([])

    assert [early, late] == store.jobs.skipped(JOB)
    assert [] == store.jobs.skipped("missing")


def test_of_two_ranges_from_one_instant_neither_hides_the_other(store: Store) -> None:
    """Two workers may have decided at different times: what either skipped stays recorded."""
    short = Skipped(job_id=JOB, from_ms=5, until_ms=9, reason="catchup.latest")
    long = Skipped(job_id=JOB, from_ms=5, until_ms=50, reason="catchup.latest")

    store.jobs.skip([long])
    store.jobs.skip([short])

    assert [short, long] == store.jobs.skipped(JOB)
