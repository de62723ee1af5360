"""What every coordination promises; see chronoshard.ports.coordination."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from coordination_fixtures import Coordinations

from chronoshard.domain.liveness import Incarnation
from chronoshard.errors import TermOver
from chronoshard.ports import Assignments, Member, Term, Tick

DEADLINE_S = 30.0
QUIET_S = 0.05

LIFE = Incarnation("e1", "0001")
OTHER = Incarnation("e1", "0002")
PLAN = Assignments(term=1, minute=5, shards={0: "w1", 1: "w2"}, slices={0: "o1"})
OTHER_PLAN = Assignments(term=2, minute=6, shards={0: "w2"}, slices={0: "o2"})

Ending = Callable[[Coordinations, Term], None]
Write = Callable[[Term], None]
WRITES: dict[str, Write] = {
    "assign": lambda term: term.assign(PLAN),
    "tick": lambda term: term.tick(Tick(term.number, 5, 300_000)),
    "watermark": lambda term: term.advance_watermark(5),
}
ENDINGS: dict[str, Ending] = {
    "resigned": lambda coordination, term: term.resign(),
    "lost": lambda coordination, term: coordination.lose(term),
}
CHANGES: dict[str, Ending] = {
    **ENDINGS,
    "joined": lambda coordination, term: coordination.now.join(Member("api", "a1")),
    "left": lambda coordination, term: coordination.now.leave(Member("master", "m1")),
    "assigned": lambda coordination, term: term.assign(PLAN),
}
each_write = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
each_ending = pytest.mark.parametrize("end", ENDINGS.values(), ids=ENDINGS)
each_change = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)


def test_a_new_system_has_nobody_and_nothing(coordination: Coordinations) -> None:
    now = coordination.now

    assert (Assignments(), None, None) == (now.assignments(), now.last_tick(), now.watermark())
    assert ([], {}) == (now.members("master"), now.condemned())


def test_one_leads_at_a_time(coordination: Coordinations) -> None:
    term = coordination.lead()

    assert term.trusted()
    assert coordination.now.campaign("m1") is None
    assert coordination.now.campaign("m2") is None


def test_of_many_candidates_one_wins(coordination: Coordinations) -> None:
    with ThreadPoolExecutor(8) as pool:
        terms = list(pool.map(coordination.now.campaign, [f"m{number}" for number in range(8)]))

    assert 1 == len([term for term in terms if term is not None])


@each_ending
def test_terms_are_numbered_above_every_earlier_one(coordination: Coordinations, end: Ending) -> None:
    numbers = []
    for _ in range(3):
        term = coordination.lead()
        numbers.append(term.number)
        end(coordination, term)
        coordination.restart()

    assert sorted(set(numbers)) == numbers


@each_write
@each_ending
def test_a_term_that_has_ended_writes_nothing(coordination: Coordinations, end: Ending, write: Write) -> None:
    term = coordination.lead()
    end(coordination, term)

    with pytest.raises(TermOver):
        write(term)
    assert not term.trusted()
    now = coordination.now
    assert (Assignments(), None, None) == (now.assignments(), now.last_tick(), now.watermark())


@each_write
def test_a_deposed_master_cannot_order(coordination: Coordinations, write: Write) -> None:
    """Also when it has not heard of the newer term."""
    old = coordination.lead()
    coordination.lose(old)
    new = coordination.lead()
    new.assign(OTHER_PLAN)
    new.tick(Tick(new.number, 6, 360_000))
    new.advance_watermark(4)

    with pytest.raises(TermOver):
        write(old)
    now = coordination.now
    assert (OTHER_PLAN, 4) == (now.assignments(), now.watermark())
    assert Tick(new.number, 6, 360_000) == now.last_tick()


def test_a_deposed_master_that_resigns_ends_only_its_own_term(coordination: Coordinations) -> None:
    old = coordination.lead()
    coordination.lose(old)
    new = coordination.lead()

    old.resign()
    assert new.trusted()
    assert coordination.now.campaign("m3") is None


def test_assignments_stand_until_they_are_replaced(coordination: Coordinations) -> None:
    old = coordination.lead()
    old.assign(PLAN)
    coordination.lose(old)
    new = coordination.lead()

    assert PLAN == coordination.now.assignments()
    new.assign(OTHER_PLAN)
    assert OTHER_PLAN == coordination.now.assignments()


def test_the_last_tick_can_be_read(coordination: Coordinations) -> None:
    term = coordination.lead()
    for minute in (5, 6):
        term.tick(Tick(term.number, minute, minute * 60_000))

    assert Tick(term.number, 6, 360_000) == coordination.now.last_tick()


def test_the_watermark_never_moves_back(coordination: Coordinations) -> None:
    term = coordination.lead()
    seen = []
    for minute in (10, 12, 11, 12):
        term.advance_watermark(minute)
        seen.append(coordination.now.watermark())

    assert [10, 12, 12, 12] == seen


def test_watermark_and_condemnations_outlive_a_restart(coordination: Coordinations) -> None:
    coordination.lead().advance_watermark(12)
    coordination.now.condemn(LIFE)

    coordination.restart()
    now = coordination.now
    assert (12, [LIFE]) == (now.watermark(), list(now.condemned()))
    assert (True, False) == (now.is_condemned(LIFE), now.is_condemned(OTHER))


def test_members_are_listed_by_part_and_name(coordination: Coordinations) -> None:
    workers = [Member("shard_worker", name, f"http://{name}") for name in ("w1", "w2", "w3")]
    for member in (workers[1], workers[2], Member("orchestrator", "o1"), workers[0]):
        coordination.now.join(member)

    assert workers == coordination.now.members("shard_worker")
    assert [] == coordination.now.members("master")


def test_joining_again_replaces(coordination: Coordinations) -> None:
    coordination.now.join(Member("api", "a1", "http://old"))
    coordination.now.join(Member("api", "a1", "http://new"))

    assert [Member("api", "a1", "http://new")] == coordination.now.members("api")


def test_who_leaves_is_gone_and_may_leave_again(coordination: Coordinations) -> None:
    coordination.now.join(Member("api", "a1"))
    coordination.now.join(Member("api", "a2"))
    coordination.now.leave(Member("api", "a1"))
    coordination.now.leave(Member("api", "a1"))

    assert [Member("api", "a2")] == coordination.now.members("api")


def test_a_condemnation_is_seen_at_once_and_concerns_one_incarnation(coordination: Coordinations) -> None:
    coordination.now.condemn(LIFE)

    assert (True, False) == (coordination.now.is_condemned(LIFE), coordination.now.is_condemned(OTHER))


def test_the_age_of_a_condemnation_is_never_exaggerated(coordination: Coordinations) -> None:
    coordination.now.condemn(LIFE)
    coordination.clock.advance(10.0)
    coordination.now.condemn(OTHER)
    coordination.clock.advance(5.0)

    condemned = coordination.now.condemned()
    assert {LIFE, OTHER} == set(condemned)
    assert 10.0 < condemned[LIFE] <= 15.0
    assert 0.0 <= condemned[OTHER] <= 5.0
    coordination.restart()
    assert coordination.now.condemned()[LIFE] <= 15.0


def test_condemning_again_is_harmless(coordination: Coordinations) -> None:
    coordination.now.condemn(LIFE)
    coordination.clock.advance(10.0)
    coordination.now.condemn(LIFE)

    assert 10.0 <= coordination.now.condemned()[LIFE]


@each_change
def test_a_change_ends_the_wait_for_it(coordination: Coordinations, change: Ending) -> None:
    coordination.now.join(Member("master", "m1"))
    term = coordination.lead()
    seen = coordination.now.wait_for_change(-1, timeout_s=DEADLINE_S)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(coordination.now.wait_for_change, seen, timeout_s=10 * DEADLINE_S)
        change(coordination, term)

        assert seen != waiting.result(DEADLINE_S)


def test_a_change_that_came_before_is_not_waited_for(coordination: Coordinations) -> None:
    seen = coordination.now.wait_for_change(-1, timeout_s=DEADLINE_S)
    coordination.lead()

    assert seen != coordination.now.wait_for_change(seen, timeout_s=10 * DEADLINE_S)


def test_waiting_ends_when_nothing_changes(coordination: Coordinations) -> None:
    seen = coordination.now.wait_for_change(-1, timeout_s=DEADLINE_S)

    assert seen == coordination.now.wait_for_change(seen, timeout_s=QUIET_S)
