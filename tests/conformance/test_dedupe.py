"""What every dedupe promises; see chronoshard.ports.dedupe."""

from __future__ import annotations

from concurrent.futures import Future

from dedupe_fixtures import Dedupes

from chronoshard.domain.identity import AttemptKey, Partition
from chronoshard.ports.dedupe import MARK_S

DEADLINE_S = 30.0


def key(number: int, attempt: int = 0) -> AttemptKey:
    return AttemptKey(number, "j" * 32, number, 0, attempt)


def test_only_what_was_marked_is_marked(dedupe: Dedupes) -> None:
    dedupe.now.mark([key(1), key(2)])
    dedupe.now.mark([key(3)])

    assert {key(1), key(3)} == dedupe.now.marked([key(1), key(3), key(4), key(1, attempt=1)])
    assert set() == dedupe.now.marked([])


def test_marks_run_out(dedupe: Dedupes) -> None:
    dedupe.now.mark([key(1)])
    dedupe.pass_by(MARK_S - 1)
    dedupe.now.mark([key(2)])

    assert {key(1), key(2)} == dedupe.now.marked([key(1), key(2)])
    dedupe.pass_by(1)
    assert {key(2)} == dedupe.now.marked([key(1), key(2)])


def test_marking_again_counts_from_then(dedupe: Dedupes) -> None:
    dedupe.now.mark([key(1)])
    dedupe.pass_by(MARK_S - 1)
    dedupe.now.mark([key(1)])
    dedupe.pass_by(MARK_S - 1)

    assert {key(1)} == dedupe.now.marked([key(1)])


def test_every_subscriber_hears_every_hint(dedupe: Dedupes) -> None:
    heard: list[Future[Partition]] = [Future(), Future()]
    for one in heard:
        dedupe.now.subscribe(one.set_result)
    dedupe.now.hint([Partition(5, 1)])

    assert [Partition(5, 1)] * 2 == [one.result(DEADLINE_S) for one in heard]


def test_who_has_unsubscribed_hears_nothing_more(dedupe: Dedupes) -> None:
    mine: list[Partition] = []
    other: Future[Partition] = Future()
    end = dedupe.now.subscribe(mine.append)
    dedupe.now.subscribe(other.set_result)
    end()
    end()
    dedupe.now.hint([Partition(5, 1)])

    assert Partition(5, 1) == other.result(DEADLINE_S)
    assert [] == mine


def test_a_subscriber_that_fails_keeps_nothing_from_the_others(dedupe: Dedupes) -> None:
    def fail(partition: Partition) -> None:
        raise RuntimeError(f"cannot hear {partition}")

    heard: Future[Partition] = Future()
    dedupe.now.subscribe(fail)
    dedupe.now.subscribe(heard.set_result)
    dedupe.now.hint([Partition(5, 1)])

    assert Partition(5, 1) == heard.result(DEADLINE_S)


def test_a_hint_without_subscribers_is_lost(dedupe: Dedupes) -> None:
    dedupe.now.hint([Partition(5, 1)])
    late: list[Partition] = []
    heard: Future[Partition] = Future()
    dedupe.now.subscribe(late.append)
    dedupe.now.subscribe(heard.set_result)
    dedupe.now.hint([Partition(6, 1)])

    heard.result(DEADLINE_S)
    assert [Partition(6, 1)] == late
