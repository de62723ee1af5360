"""Rows of the timetable: made once, read in order, page by page."""

from __future__ import annotations

from store_values import (
    DUE_MS,
    JOB,
    MINUTE,
    PARTITION,
    SHARD,
    applied,
    claim,
    due,
    end,
    job_ids,
    key,
    made,
    plan,
    present,
)

from chronoshard.domain.identity import MINUTE_MS, AttemptKey, Partition
from chronoshard.domain.liveness import Incarnation
from chronoshard.domain.states import Cause, State
from chronoshard.ports import Store

EAST, WEST = Incarnation("east", "life-1"), Incarnation("west", "life-1")


def test_an_inserted_plan_is_a_due_row(store: Store) -> None:
    wanted = plan(key(origin=2**63 - 1, attempt=3), cause=Cause.USER_RETRY)

    store.timetable.insert([wanted])

    assert [due(wanted)] == store.timetable.page(PARTITION, after=None, limit=10)
    assert [due(wanted)] == store.timetable.rows([wanted.key])


def test_inserting_nothing_is_no_error(store: Store) -> None:
    store.timetable.insert([])

    assert [] == store.timetable.page(PARTITION, after=None, limit=10)
    assert [] == store.timetable.rows([])


def test_inserting_again_changes_nothing_of_what_happened(store: Store) -> None:
    at = key()
    made(store, at)
    [before] = applied(store, claim(at))

    made(store, at)

    assert [before] == present(store, [at])
    [after] = applied(store, end(at))
    store.timetable.follow([at])
    made(store, at)
    [row] = present(store, [at])
    assert (State.SUCCEEDED, after.finished_ms, True) == (row.state, row.finished_ms, row.followed)


def test_one_batch_may_hold_new_and_old_rows_and_twins(store: Store) -> None:
    first, second = (key(job_id) for job_id in job_ids(2))
    made(store, first)

    made(store, first, second, second)

    assert [first, second] == [row.key for row in store.timetable.page(PARTITION, after=None, limit=10)]


def test_one_batch_may_span_partitions(store: Store) -> None:
    here, later = key(), key(due_ms=DUE_MS + MINUTE_MS)
    elsewhere = key(job_ids(1, shard=SHARD + 1)[0])

    made(store, here, later, elsewhere)

    assert [here] == _keys(store, PARTITION)
    assert [later] == _keys(store, Partition(MINUTE + 1, SHARD))
    assert [elsewhere] == _keys(store, Partition(MINUTE, SHARD + 1))


def test_a_page_is_in_the_order_of_the_keys(store: Store) -> None:
    small, large = job_ids(2)
    ordered = [
        AttemptKey(DUE_MS, small, 5, 0, 0),
        AttemptKey(DUE_MS, small, 5, 0, 1),
        AttemptKey(DUE_MS, small, 5, 9, 0),
        AttemptKey(DUE_MS, small, 40, 0, 0),
        AttemptKey(DUE_MS, large, 5, 0, 0),
        AttemptKey(DUE_MS + 1, small, 5, 0, 0),
        AttemptKey(DUE_MS + MINUTE_MS - 1, small, 5, 0, 0),
    ]
    assert sorted(ordered) == ordered

    made(store, *reversed(ordered))

    assert ordered == _keys(store, PARTITION)


def test_pages_join_without_gap_or_overlap(store: Store) -> None:
    keys = made(store, *(key(job_id, due_ms=DUE_MS + n // 3) for n, job_id in enumerate(job_ids(10))))
    seen: list[AttemptKey] = []

    while page := store.timetable.page(PARTITION, after=seen[-1] if seen else None, limit=3):
        assert len(page) <= 3
        seen += [row.key for row in page]

    assert sorted(keys) == seen


def test_a_short_page_is_the_last_one(store: Store) -> None:
    keys = made(store, *(key(job_id) for job_id in job_ids(5)))

    assert 3 == len(store.timetable.page(PARTITION, after=None, limit=3))
    assert 2 == len(store.timetable.page(PARTITION, after=sorted(keys)[2], limit=3))
    assert [] == store.timetable.page(PARTITION, after=sorted(keys)[4], limit=3)


def test_a_page_may_begin_at_a_place_where_no_row_is(store: Store) -> None:
    early, late = made(store, key(due_ms=DUE_MS + 10), key(due_ms=DUE_MS + 30))
    between = AttemptKey(DUE_MS + 19, "~", 0, 0, 0)
    before_the_minute = AttemptKey(DUE_MS - 1, "~", 0, 0, 0)
    after_the_minute = AttemptKey(DUE_MS + MINUTE_MS, "", 0, 0, 0)

    assert [late] == _keys(store, PARTITION, after=between)
    assert [early, late] == _keys(store, PARTITION, after=before_the_minute)
    assert [] == _keys(store, PARTITION, after=after_the_minute)


def test_rows_come_in_the_order_asked_for_with_gaps(store: Store) -> None:
    first, second, missing = (key(job_id) for job_id in job_ids(3))
    made(store, first, second)

    found = store.timetable.rows([second, missing, first, second])

    assert [second, None, first, second] == [row and row.key for row in found]


def test_following_is_noted_and_touches_nothing_else(store: Store) -> None:
    first, second = made(store, *(key(job_id) for job_id in job_ids(2)))
    applied(store, claim(first), claim(second))
    rows = applied(store, end(first), end(second))

    store.timetable.follow([first])
    store.timetable.follow([first])
    store.timetable.follow([])

    rows[0].followed = True
    assert rows == present(store, [first, second])


def test_following_what_is_not_there_makes_nothing(store: Store) -> None:
    store.timetable.follow([key()])

    assert [] == _keys(store, PARTITION)
    assert [None] == store.timetable.rows([key()])


def test_running_rows_are_found_by_incarnation_over_all_partitions(store: Store) -> None:
    mine, later = key(), key(due_ms=DUE_MS + MINUTE_MS)
    other, waiting = (key(job_id) for job_id in job_ids(3)[1:])
    made(store, mine, later, other, waiting)
    applied(store, claim(mine, by=EAST), claim(other, by=WEST))
    applied(store, claim(later, by=EAST), partition=Partition(MINUTE + 1, SHARD))

    assert {mine, later} == _running(store, EAST)
    assert {mine, later, other} == _running(store, EAST, WEST)
    assert set() == _running(store)


def test_a_later_life_of_an_executor_has_rows_of_its_own(store: Store) -> None:
    made(store, key())
    applied(store, claim(by=Incarnation("east", "life-2")))

    assert set() == _running(store, EAST)
    assert set() == _running(store, Incarnation("west", "life-2"))


def test_what_has_ended_no_longer_runs(store: Store) -> None:
    made(store, key())
    applied(store, claim(by=EAST))
    applied(store, end())

    assert set() == _running(store, EAST)


def test_partitions_with_rows_are_listed_in_order(store: Store) -> None:
    minutes = [MINUTE, MINUTE + 1, MINUTE + 900, MINUTE + 5_000_000]
    made(store, *(key(due_ms=minute * MINUTE_MS + n) for minute in minutes for n in (0, 59_999)))
    made(store, key(job_ids(1, shard=SHARD + 1)[0], due_ms=(MINUTE + 3) * MINUTE_MS))

    assert minutes == _minutes(store, MINUTE, MINUTE + 5_000_001)
    assert minutes[1:3] == _minutes(store, MINUTE + 1, MINUTE + 5_000_000)
    assert [] == _minutes(store, MINUTE + 2, MINUTE + 900)
    assert [] == _minutes(store, MINUTE, MINUTE)


def test_listing_partitions_goes_on_while_rows_are_written(store: Store) -> None:
    made(store, key())
    listing = store.iter_partitions(SHARD, from_minute=MINUTE, until_minute=MINUTE + 10)

    first = next(listing)
    made(store, key(JOB, due_ms=DUE_MS + 5 * MINUTE_MS))

    assert PARTITION == first
    assert [Partition(MINUTE + 5, SHARD)] == list(listing)


def _keys(store: Store, partition: Partition, *, after: AttemptKey | None = None) -> list[AttemptKey]:
    return [row.key for row in store.timetable.page(partition, after=after, limit=100)]


def _running(store: Store, *incarnations: Incarnation) -> set[AttemptKey]:
    return {row.key for row in store.timetable.running_on(incarnations)}


def _minutes(store: Store, from_minute: int, until_minute: int) -> list[int]:
    found = list(store.iter_partitions(SHARD, from_minute=from_minute, until_minute=until_minute))
    assert {SHARD} >= {partition.shard for partition in found}
    return [partition.minute for partition in found]
