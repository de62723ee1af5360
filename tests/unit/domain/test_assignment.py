"""Everybody has his share, and nothing moves that need not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from chronoshard.domain.assignment import assign

SHARDS = range(256)
WORKERS = tuple(f"worker-{number}" for number in range(8))
MEMBERS = st.lists(st.sampled_from([f"m{n}" for n in range(12)]), min_size=1, max_size=9, unique=True)
ITEMS = st.lists(st.integers(0, 200), max_size=60, unique=True)


def moved(before: Mapping[int, str], after: Mapping[int, str]) -> int:
    return sum(before[item] != member for item, member in after.items())


def test_256_shards_on_8_workers_are_32_each() -> None:
    assert dict.fromkeys(WORKERS, 32) == Counter(assign(SHARDS, WORKERS, {}).values())


def test_a_lost_worker_moves_its_own_shards_only() -> None:
    before = assign(SHARDS, WORKERS, {})

    after = assign(SHARDS, WORKERS[1:], before)

    assert 32 == moved(before, after)
    assert {36, 37} == set(Counter(after.values()).values())


def test_a_returning_worker_takes_only_what_balance_needs() -> None:
    without = assign(SHARDS, WORKERS[1:], assign(SHARDS, WORKERS, {}))

    again = assign(SHARDS, WORKERS, without)

    assert 32 == moved(without, again)
    assert {WORKERS[0]} == {member for item, member in again.items() if without[item] != member}


def test_nobody_there_has_nothing_and_nothing_there_is_nobodys() -> None:
    assert {} == assign(SHARDS, [], {1: "gone"})
    assert {} == assign([], WORKERS, {})


def test_fewer_items_than_members_go_to_different_members() -> None:
    assert 3 == len(set(assign(range(3), WORKERS, {}).values()))


@given(items=ITEMS, members=MEMBERS, data=st.data())
def test_shares_are_even_and_moves_are_minimal(items: list[int], members: list[str], data: st.DataObject) -> None:
    owners = st.sampled_from([*members, "gone", "also gone"])
    previous = data.draw(st.dictionaries(st.sampled_from(items), owners)) if items else {}

    after = assign(items, members, previous)

    shares = Counter(after.values())
    assert set(items) == set(after)
    assert all(shares[member] <= ceil(len(items) / len(members)) for member in members)
    assert max(shares[member] for member in members) - min(shares[member] for member in members) <= 1
    low, extra = divmod(len(items), len(members))
    held = sorted((sum(previous.get(item) == member for item in items) for member in members), reverse=True)
    most_kept = sum(min(count, low + (place < extra)) for place, count in enumerate(held))
    assert most_kept == sum(previous.get(item) == member for item, member in after.items())


@given(items=ITEMS, members=MEMBERS, data=st.data())
def test_the_order_in_which_things_were_read_does_not_matter(
    items: list[int], members: list[str], data: st.DataObject
) -> None:
    previous = assign(items, data.draw(MEMBERS), {})

    after = assign(items, members, previous)

    shuffled = assign(data.draw(st.permutations(items)), data.draw(st.permutations(members)), previous)
    assert after == shuffled


@given(items=ITEMS, members=MEMBERS)
def test_what_is_balanced_stays_as_it_is(items: list[int], members: list[str]) -> None:
    once = assign(items, members, {})

    assert once == assign(items, members, once)
