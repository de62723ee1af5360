"""Beats by incarnation, the newest by sequence; kill orders; drains."""

from __future__ import annotations

from store_values import beat, job_ids, key

from chronoshard.domain.liveness import Incarnation
from chronoshard.ports import Store

EAST, EAST_LATER, WEST = Incarnation("east", "1"), Incarnation("east", "2"), Incarnation("west", "1")


def test_a_beat_is_read_back_whole(store: Store) -> None:
    store.executors.record(beat(EAST))

    assert [beat(EAST)] == store.executors.beats()


def test_each_incarnation_keeps_its_newest_beat(store: Store) -> None:
    for one in (beat(EAST, 1), beat(EAST, 3, free=1), beat(EAST, 2, free=2), beat(EAST_LATER, 1), beat(WEST, 9)):
        store.executors.record(one)

    found = {(one.executor, one.incarnation): one for one in store.executors.beats()}

    assert {EAST: beat(EAST, 3, free=1), EAST_LATER: beat(EAST_LATER), WEST: beat(WEST, 9)} == found


def test_kill_orders_are_kept_by_incarnation(store: Store) -> None:
    first, second = (key(job_id) for job_id in job_ids(2))
    store.executors.order_kills(EAST, [first])
    store.executors.order_kills(EAST, [first, second])
    store.executors.order_kills(WEST, [second])
    store.executors.order_kills(WEST, [])

    assert [first, second] == sorted(store.executors.kills(EAST))
    assert [second] == store.executors.kills(WEST)
    assert [] == store.executors.kills(EAST_LATER)


def test_an_incarnation_that_is_over_leaves_nothing(store: Store) -> None:
    for incarnation in (EAST, EAST_LATER):
        store.executors.record(beat(incarnation))
        store.executors.order_kills(incarnation, [key()])

    store.executors.forget([EAST, WEST])
    store.executors.forget([])

    assert [beat(EAST_LATER)] == store.executors.beats()
    assert [] == store.executors.kills(EAST)
    assert [key()] == store.executors.kills(EAST_LATER)


def test_an_executor_is_drained_until_it_is_not(store: Store) -> None:
    store.executors.set_drain("east", True)
    store.executors.set_drain("east", True)
    store.executors.set_drain("west", True)
    assert {"east", "west"} == store.executors.draining()

    store.executors.set_drain("east", False)
    store.executors.set_drain("north", False)
    assert {"west"} == store.executors.draining()
