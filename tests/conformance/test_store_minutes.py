"""The marks of minutes: only ever set, read by the newest state, asked for again under a new id."""

from __future__ import annotations

from store_values import MINUTE, PARTITION, SHARD

from chronoshard.domain.identity import Partition
from chronoshard.domain.ledger import Mark, Totals
from chronoshard.ports import Store

NEXT = Partition(MINUTE + 1, SHARD)
ELSEWHERE = Partition(MINUTE, SHARD + 1)
COUNTED = Totals(rows=9, open=1, succeeded=2, failed=3, skipped=1, lost=1, cancelled=1)


def test_a_minute_without_a_mark_is_not_closing(store: Store) -> None:
    assert set() == store.minutes.closing([PARTITION])
    assert {} == _marks(store)


def test_a_closing_mark_is_seen_at_once(store: Store) -> None:
    store.minutes.mark_closing([PARTITION, NEXT])

    assert {PARTITION, NEXT} == store.minutes.closing([PARTITION, NEXT, ELSEWHERE])
    assert {PARTITION} == store.minutes.closing({PARTITION})
    assert {MINUTE: Mark(closing=True), MINUTE + 1: Mark(closing=True)} == _marks(store)


def test_nothing_asked_nothing_found(store: Store) -> None:
    store.minutes.mark_closing([])
    store.minutes.close({})
    store.minutes.settle({})
    store.minutes.reopen(set())
    store.minutes.forget_reopened(SHARD, [])

    assert set() == store.minutes.closing([])
    assert {} == _marks(store)


def test_a_partition_goes_from_closing_to_closed_to_settled(store: Store) -> None:
    final = Totals(rows=9, succeeded=9)
    store.minutes.mark_closing([PARTITION])

    store.minutes.close({PARTITION: COUNTED})
    assert {MINUTE: Mark(closing=True, closed=True, totals=COUNTED)} == _marks(store)

    store.minutes.settle({PARTITION: final})
    assert {MINUTE: Mark(closing=True, closed=True, settled=True, totals=final)} == _marks(store)


def test_no_mark_is_ever_taken_back(store: Store) -> None:
    store.minutes.mark_closing([PARTITION])
    store.minutes.settle({PARTITION: COUNTED})

    store.minutes.mark_closing([PARTITION])
    store.minutes.close({PARTITION: COUNTED})

    assert {MINUTE: Mark(closing=True, closed=True, settled=True, totals=COUNTED)} == _marks(store)
    assert {PARTITION} == store.minutes.closing([PARTITION])


def test_marks_are_those_of_one_shard_and_span(store: Store) -> None:
    minutes = [Partition(minute, SHARD) for minute in range(MINUTE - 2, MINUTE + 3)]
    store.minutes.mark_closing([*minutes, ELSEWHERE])

    found = store.minutes.marks(SHARD, from_minute=MINUTE - 1, until_minute=MINUTE + 2)

    assert dict.fromkeys(range(MINUTE - 1, MINUTE + 2), Mark(closing=True)) == found


def test_what_is_asked_for_again_is_found_by_shard(store: Store) -> None:
    store.minutes.reopen({PARTITION, NEXT, ELSEWHERE})

    assert {PARTITION, NEXT} == set(store.minutes.reopened(SHARD).values())
    assert {ELSEWHERE} == set(store.minutes.reopened(SHARD + 1).values())


def test_what_has_been_dealt_with_is_forgotten(store: Store) -> None:
    store.minutes.reopen([PARTITION, NEXT])
    ids = {partition: id_ for id_, partition in store.minutes.reopened(SHARD).items()}

    store.minutes.forget_reopened(SHARD, [ids[PARTITION]])
    store.minutes.forget_reopened(SHARD, [ids[PARTITION]])

    assert {ids[NEXT]: NEXT} == store.minutes.reopened(SHARD)


def test_forgetting_what_was_looked_at_keeps_what_was_asked_since(store: Store) -> None:
    """The row that was written after the look would otherwise be nobody's."""
    store.minutes.reopen([PARTITION])
    looked_at = store.minutes.reopened(SHARD)
    store.minutes.reopen([PARTITION])

    store.minutes.forget_reopened(SHARD, list(looked_at))

    assert [PARTITION] == list(store.minutes.reopened(SHARD).values())


def _marks(store: Store) -> dict[int, Mark]:
    return store.minutes.marks(SHARD, from_minute=0, until_minute=2 * MINUTE)
