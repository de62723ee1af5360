"""What every broker promises; see chronoshard.ports.broker."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from broker_fixtures import DEADLINE_S, QUIET_S, bundle, consume, drain, receive

from chronoshard.domain.bundle import Queue
from chronoshard.ports import Broker


def test_what_is_confirmed_is_delivered_as_it_was(broker: Broker) -> None:
    sent = bundle(7, shard=3, tier=2, priority=3, attempts=100)

    assert [] == broker.publish([sent])
    (delivery,) = consume(broker).receive(timeout_s=DEADLINE_S)
    assert (sent, False) == (delivery.bundle, delivery.redelivered)


@pytest.mark.parametrize(("tier", "priority"), [(0, 1), (4, 1), (1, 0), (1, 4), (-1, 1)])
def test_what_has_nowhere_to_go_is_returned_and_its_neighbours_go(
    broker: Broker, tier: int, priority: int
) -> None:
    lost = bundle(1, tier=tier, priority=priority)

    assert [lost] == broker.publish([bundle(0), lost, bundle(2)])
    assert [bundle(0), bundle(2)] == drain(consume(broker))


def test_a_published_bundle_ends_the_wait_of_a_consumer(broker: Broker) -> None:
    consumer = consume(broker)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(consumer.receive, timeout_s=DEADLINE_S)
        broker.publish([bundle(1)])

        assert [bundle(1)] == [delivery.bundle for delivery in waiting.result(DEADLINE_S)]


def test_waiting_ends_with_nothing_when_nothing_comes(broker: Broker) -> None:
    assert [] == list(consume(broker).receive(timeout_s=QUIET_S))


def test_a_consumer_can_be_woken(broker: Broker) -> None:
    consumer = consume(broker)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(consumer.receive, timeout_s=10 * DEADLINE_S)
        consumer.wake()

        assert [] == list(waiting.result(DEADLINE_S))


def test_being_woken_holds_for_one_receive_only(broker: Broker) -> None:
    consumer = consume(broker)
    consumer.wake()
    consumer.receive(timeout_s=DEADLINE_S)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(consumer.receive, timeout_s=DEADLINE_S)
        broker.publish([bundle(1)])

        assert [bundle(1)] == [delivery.bundle for delivery in waiting.result(DEADLINE_S)]


def test_no_more_than_the_prefetch_is_held(broker: Broker) -> None:
    broker.publish([bundle(number) for number in range(5)])
    consumer = consume(broker, prefetch=3)

    held = receive(consumer, 3)
    assert [] == list(consumer.receive(timeout_s=QUIET_S))
    consumer.ack(held[:2])
    assert 2 == len(receive(consumer, 2))


def test_what_is_acknowledged_never_comes_again(broker: Broker) -> None:
    broker.publish([bundle(1), bundle(2)])
    consumer = consume(broker)

    consumer.ack(receive(consumer, 2))
    consumer.close()
    assert [] == drain(consume(broker))


def test_what_is_given_back_comes_again_and_says_so(broker: Broker) -> None:
    broker.publish([bundle(1), bundle(2)])
    first, second = consume(broker), consume(broker)
    held = [*first.receive(timeout_s=DEADLINE_S), *first.receive(timeout_s=DEADLINE_S)]
    assert 2 == len(held)

    first.give_back(held[:1])
    (again,) = second.receive(timeout_s=DEADLINE_S)
    assert (held[0].bundle, True) == (again.bundle, True is again.redelivered)


def test_what_a_lost_consumer_held_comes_again(broker: Broker) -> None:
    broker.publish([bundle(1), bundle(2), bundle(3)])
    lost = consume(broker)
    lost.ack(receive(lost, 3)[:1])

    lost.close()
    again = receive(consume(broker), 2)
    assert [(bundle(2), True), (bundle(3), True)] == [(item.bundle, item.redelivered) for item in again]


def test_a_late_ack_takes_nothing_from_the_next_holder(broker: Broker) -> None:
    broker.publish([bundle(1)])
    frozen, next_one = consume(broker), consume(broker)
    stale = receive(frozen, 1)
    frozen.give_back(stale)
    receive(next_one, 1)

    frozen.ack(stale)
    next_one.close()
    assert [bundle(1)] == drain(frozen)


def test_a_late_ack_takes_nothing_from_a_later_delivery_to_the_same(broker: Broker) -> None:
    broker.publish([bundle(1)])
    consumer = consume(broker)
    stale = receive(consumer, 1)
    consumer.give_back(stale)
    receive(consumer, 1)

    consumer.ack(stale)
    consumer.close()
    assert [bundle(1)] == drain(consume(broker))


def test_higher_priorities_go_first_and_within_one_the_lower_tier(broker: Broker) -> None:
    order = [(priority, tier) for priority in (1, 2, 3) for tier in (1, 2, 3)]
    broker.publish([bundle(tier=tier, priority=priority) for priority, tier in reversed(order)])

    assert order == [(one.priority, one.tier) for one in drain(consume(broker))]


def test_the_lowest_priority_is_served_while_higher_ones_keep_waiting(broker: Broker) -> None:
    """Nothing starves, and the share of what is less urgent stays small."""
    lowest = bundle(-1, tier=3, priority=3)
    broker.publish([lowest, *(bundle(number) for number in range(200))])

    served = drain(consume(broker, prefetch=1))
    assert lowest in served[:100]
    assert lowest not in served[:5]


def test_only_the_slices_that_are_served_are_consumed(broker: Broker) -> None:
    broker.publish([bundle(shard=shard) for shard in range(8)])

    assert {1, 5} == {one.shard for one in drain(consume(broker, slices=[1]))}
    assert {0, 2, 3, 4, 6, 7} == {one.shard for one in drain(consume(broker, slices=[0, 2, 3]))}


def test_what_is_held_of_a_slice_stays_held_when_others_are_served(broker: Broker) -> None:
    broker.publish([bundle(0, shard=0), bundle(1, shard=1)])
    consumer, heir = consume(broker, slices=[0]), consume(broker, slices=[0])
    held = receive(consumer, 1)

    consumer.serve([1])
    assert [1] == [delivery.bundle.shard for delivery in receive(consumer, 1)]
    assert [] == drain(heir)
    consumer.ack(held)
    consumer.close()
    assert [] == drain(heir)


def test_serving_a_slice_ends_the_wait_for_what_is_in_it(broker: Broker) -> None:
    broker.publish([bundle(1, shard=2)])
    consumer = consume(broker, slices=[0])
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(consumer.receive, timeout_s=DEADLINE_S)
        consumer.serve([2])

        assert [bundle(1, shard=2)] == [delivery.bundle for delivery in waiting.result(DEADLINE_S)]


def test_consumers_of_one_slice_share_it(broker: Broker) -> None:
    first, second = consume(broker, slices=[0]), consume(broker, slices=[0])
    broker.publish([bundle(number) for number in range(8)])

    assert first.receive(timeout_s=DEADLINE_S)
    assert second.receive(timeout_s=DEADLINE_S)


def test_depths_count_what_waits_and_not_what_is_held(broker: Broker) -> None:
    broker.publish([bundle(1), bundle(2), bundle(3, shard=5, tier=2, priority=3)])
    assert {Queue(1, 1, 0): 2, Queue(2, 3, 1): 1} == broker.depths()

    consumer = consume(broker, slices=[0])
    receive(consumer, 2)
    assert {Queue(2, 3, 1): 1} == broker.depths()
    consumer.close()
    assert {Queue(1, 1, 0): 2, Queue(2, 3, 1): 1} == broker.depths()


def test_what_is_buried_lies_with_the_dead_letters_and_comes_no_more(broker: Broker) -> None:
    broker.publish([bundle(1), bundle(2), bundle(3)])
    consumer = consume(broker)
    for delivery in receive(consumer, 3)[:2]:
        consumer.bury(delivery, f"because of {delivery.bundle.items[0].key.due_ms}")
    consumer.close()

    assert [(bundle(2), "because of 1002"), (bundle(1), "because of 1001")] == broker.dead_letters(10)
    assert [(bundle(2), "because of 1002")] == broker.dead_letters(1)
    assert [bundle(3)] == drain(consume(broker))
