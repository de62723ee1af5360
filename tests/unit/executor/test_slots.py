"""Counting of what is free, reserved and taken."""

from __future__ import annotations

from chronoshard.executor.slots import Slots
from chronoshard.link import RESERVATION_S


def test_a_reservation_holds_its_slots_until_it_runs_out() -> None:
    slots = Slots(10)

    assert 7 == slots.reserve("a", 7, now_s=0.0)
    assert 3 == slots.reserve("b", 7, now_s=0.0)
    assert 0 == slots.reserve("c", 1, now_s=RESERVATION_S - 0.1)
    assert 10 == slots.free(RESERVATION_S)


def test_a_renewed_reservation_holds_on() -> None:
    slots = Slots(1)
    slots.reserve("a", 1, now_s=0.0)

    assert slots.renew("a", now_s=4.0)
    assert 0 == slots.free(RESERVATION_S + 1.0)
    assert not slots.renew("a", now_s=4.0 + RESERVATION_S)


def test_one_that_has_run_out_gives_no_slot_though_nobody_has_looked() -> None:
    slots = Slots(1)
    slots.reserve("a", 1, now_s=0.0)

    assert not slots.take("a", now_s=RESERVATION_S)


def test_what_is_taken_stays_taken_until_it_is_given_back() -> None:
    slots = Slots(2)
    slots.reserve("a", 2, now_s=0.0)

    assert slots.take("a", now_s=1.0)
    slots.release("a")

    assert 1 == slots.free(100.0)
    slots.give_back()
    assert 2 == slots.free(100.0)


def test_nothing_is_granted_for_nothing_or_less() -> None:
    slots = Slots(2)

    assert [0, 0] == [slots.reserve("a", 0, now_s=0.0), slots.reserve("b", -1, now_s=0.0)]
    assert not slots.take("a", now_s=0.0)
