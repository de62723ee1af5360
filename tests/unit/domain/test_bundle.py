"""What travels together."""

from __future__ import annotations

from chronoshard.domain.bundle import ALONE_FROM_RELEASE, MAX_ATTEMPTS, Item, Queue, bundles_of
from chronoshard.domain.identity import Partition
from tests.unit.domain.builders import T0, head, key

PLACE = Partition(T0 // 60_000, 6)


def test_attempts_are_packed_by_what_routes_them_the_most_urgent_first() -> None:
    urgent, normal, exclusive = head(priority=1), head(), head(overlap="skip")
    python = head(runtime="python")
    jobs = [normal, urgent, exclusive, python]
    bundles = bundles_of(PLACE, [(Item(key(T0 + n)), job) for n, job in enumerate(jobs)])

    assert [(1, "shell", False), (2, "python", False), (2, "shell", False), (2, "shell", True)] == [
        (bundle.priority, bundle.runtime, bundle.exclusive) for bundle in bundles
    ]
    assert {PLACE} == {bundle.partition for bundle in bundles}
    assert Queue(1, 1, 2) == bundles[0].queue(4)


def test_no_bundle_is_larger_than_a_conditional_batch_carries() -> None:
    bundles = bundles_of(PLACE, [(Item(key(T0 + n)), head()) for n in range(250)])

    assert [MAX_ATTEMPTS, MAX_ATTEMPTS, 50] == [len(bundle.items) for bundle in bundles]


def test_what_was_released_often_travels_alone() -> None:
    items = [Item(key(T0 + n), ALONE_FROM_RELEASE if n < 2 else 0) for n in range(4)]

    assert [2, 1, 1] == [len(b.items) for b in bundles_of(PLACE, [(item, head()) for item in items])]
