"""What the dedupe in the process adds: a bound, and hints that may do anything."""

from __future__ import annotations

from chronoshard.adapters.local_dedupe import LocalDedupe
from chronoshard.clock import SystemClock
from chronoshard.domain.identity import AttemptKey, Partition

KEYS = [AttemptKey(number, "j" * 32, number, 0, 0) for number in range(6)]


def test_beyond_its_bound_it_forgets_the_oldest_marks() -> None:
    dedupe = LocalDedupe(SystemClock(), max_marks=3)
    dedupe.mark(KEYS[:3])
    dedupe.mark(KEYS[:1])
    dedupe.mark(KEYS[3:4])

    assert {KEYS[0], KEYS[2], KEYS[3]} == dedupe.marked(KEYS)
    dedupe.mark(KEYS)
    assert set(KEYS[3:]) == dedupe.marked(KEYS)


def test_who_hears_a_hint_may_ask_mark_and_subscribe() -> None:
    dedupe = LocalDedupe(SystemClock())
    heard: list[Partition] = []

    def hear(partition: Partition) -> None:
        heard.append(partition)
        dedupe.mark(KEYS)
        dedupe.subscribe(heard.append)()
        if len(heard) < 3:
            dedupe.hint([Partition(partition.minute + 1, 0)])

    dedupe.subscribe(hear)
    dedupe.hint([Partition(1, 0)])

    assert [Partition(1, 0), Partition(2, 0), Partition(3, 0)] == heard
    assert set(KEYS) == dedupe.marked(KEYS)
