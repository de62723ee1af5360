"""What the broker in the process adds: limits, exact shares, many threads at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from chronoshard.adapters.local_broker import AGEING_EVERY, MAX_DEAD_LETTERS, LocalBroker
from chronoshard.domain.bundle import Bundle, Item
from chronoshard.domain.identity import AttemptKey
from chronoshard.errors import InvalidInput, Unavailable
from chronoshard.ports import Consumer

SLICES = 4
DEADLINE_S = 30.0


def bundle(number: int, *, shard: int = 0, priority: int = 1, attempts: int = 1) -> Bundle:
    items = [Item(AttemptKey(number, "j" * 32, number, 0, attempt)) for attempt in range(attempts)]
    return Bundle(minute=1, shard=shard, tier=1, priority=priority, runtime="builtin", items=items)


def consume(broker: LocalBroker, *, prefetch: int = 32, slices: range = range(SLICES)) -> Consumer:
    consumer = broker.consumer("o1", prefetch=prefetch)
    consumer.serve(slices)
    return consumer


def numbers(bundles: list[Bundle]) -> list[int]:
    return [bundle.items[0].key.due_ms for bundle in bundles]


def test_what_does_not_fit_is_not_confirmed_and_fits_again_after_an_ack() -> None:
    broker = LocalBroker(slices=SLICES, max_attempts=250)
    full = [bundle(number, attempts=100) for number in range(3)]
    consumer = consume(broker)

    assert [full[2]] == broker.publish(full)
    assert [] == broker.publish([bundle(3, attempts=50)])
    held = consumer.receive(timeout_s=DEADLINE_S)
    assert [full[2]] == broker.publish([full[2]]), "what is held counts: it may come back"
    consumer.ack(held[:1])
    assert [] == broker.publish([full[2]])


def test_buried_bundles_make_room() -> None:
    broker = LocalBroker(slices=SLICES, max_attempts=100)
    broker.publish([bundle(1, attempts=100)])
    consumer = consume(broker)
    consumer.bury(consumer.receive(timeout_s=DEADLINE_S)[0], "poison")

    assert [] == broker.publish([bundle(2, attempts=100)])


def test_a_broker_that_could_not_hold_one_bundle_is_refused() -> None:
    with pytest.raises(InvalidInput):
        LocalBroker(slices=SLICES, max_attempts=99)


def test_every_twentieth_bundle_is_the_oldest_of_a_lower_priority() -> None:
    broker = LocalBroker(slices=SLICES)
    broker.publish([bundle(1, priority=3), bundle(2, priority=2), bundle(3, priority=3)])
    broker.publish([bundle(10, priority=1) for _ in range(100)])
    consumer = consume(broker, prefetch=1)
    served = []
    for _ in range(4 * AGEING_EVERY):
        (delivery,) = consumer.receive(timeout_s=DEADLINE_S)
        consumer.ack([delivery])
        served.append(delivery.bundle)

    aged = [number if number < 10 else None for number in numbers(served)]
    others = [None] * (AGEING_EVERY - 1)
    assert [*others, 1, *others, 2, *others, 3, *others, None] == aged


def test_consumers_with_room_share_a_slice_equally() -> None:
    broker = LocalBroker(slices=SLICES)
    first, second, full = consume(broker), consume(broker), consume(broker, prefetch=1)
    broker.publish([bundle(0)])
    full.receive(timeout_s=DEADLINE_S)
    broker.publish([bundle(number) for number in range(8)])

    assert 4 == len(first.receive(timeout_s=DEADLINE_S))
    assert 2 == len(second.receive(timeout_s=DEADLINE_S))
    assert 1 == len(first.receive(timeout_s=DEADLINE_S))


def test_another_s_share_of_one_slice_costs_nothing_of_the_others() -> None:
    broker = LocalBroker(slices=SLICES)
    first = consume(broker, slices=range(2))
    consume(broker, slices=range(1, 2))
    broker.publish([bundle(number, shard=shard) for number in range(4) for shard in range(2)])

    shards = [delivery.bundle.shard for delivery in first.receive(timeout_s=DEADLINE_S)]
    assert (4, 2) == (shards.count(0), shards.count(1))


def test_what_is_given_back_goes_before_what_came_later() -> None:
    broker = LocalBroker(slices=SLICES)
    broker.publish([bundle(number) for number in range(4)])
    consumer = consume(broker, prefetch=2)
    consumer.give_back(consumer.receive(timeout_s=DEADLINE_S))

    again = [delivery.bundle for delivery in consumer.receive(timeout_s=DEADLINE_S)]
    assert [0, 1] == numbers(again)


def test_a_closed_consumer_says_so_even_to_who_waits() -> None:
    consumer = consume(LocalBroker(slices=SLICES))
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(consumer.receive, timeout_s=10 * DEADLINE_S)
        consumer.close()

        with pytest.raises(Unavailable):
            waiting.result(DEADLINE_S)
    with pytest.raises(Unavailable):
        consumer.receive(timeout_s=DEADLINE_S)


def test_dead_letters_are_a_ring() -> None:
    broker = LocalBroker(slices=SLICES)
    broker.publish([bundle(number) for number in range(MAX_DEAD_LETTERS + 1)])
    consumer = consume(broker)
    while received := consumer.receive(timeout_s=0.0):
        for delivery in received:
            consumer.bury(delivery, "poison")

    kept = broker.dead_letters(2 * MAX_DEAD_LETTERS)
    assert list(range(MAX_DEAD_LETTERS, 0, -1)) == numbers([letter for letter, _ in kept])


def test_nothing_is_lost_and_nothing_acknowledged_twice_among_many_threads() -> None:
    """Consumers that take, give back and die; publishers that meet the limit and try again."""
    broker = LocalBroker(slices=SLICES, max_attempts=200)
    sent = [bundle(number, shard=number % 16, priority=1 + number % 3) for number in range(3_000)]
    done: list[int] = []
    all_done = threading.Event()

    def publish(part: list[Bundle]) -> None:
        while part:
            part = broker.publish(part)

    def work(seed: int) -> None:
        consumer, turn = consume(broker, prefetch=8), seed
        while not all_done.is_set():
            received = consumer.receive(timeout_s=0.01)
            turn += 1
            if turn % 5 == 0:
                consumer.give_back(received)
            elif turn % 7 == 0:
                consumer.close()
                consumer = consume(broker, prefetch=8)
            else:
                consumer.ack(received)
                done.extend(numbers([delivery.bundle for delivery in received]))
            if len(done) >= len(sent):
                all_done.set()

    with ThreadPoolExecutor() as pool:
        running = [pool.submit(work, seed) for seed in range(3)]
        running += [pool.submit(publish, sent[start::3]) for start in range(3)]
        for one in running:
            one.result(2 * DEADLINE_S)

    assert list(range(3_000)) == sorted(done)
    assert {} == broker.depths()
    assert [] == broker.publish([bundle(number) for number in range(200)]), "every attempt was counted out again"
