"""From one life to the next: beats that do not count, condemnation, stops, and results nobody has taken yet."""

from __future__ import annotations

import pytest

from chronoshard.errors import Conflict, InvalidInput
from chronoshard.link import StartAnswer
from tests.executor.bench import NAP, RUN_AWAY, Bench, sleepers, until

LONG_S = 3_600.0


def test_nothing_starts_before_a_beat_has_counted(bench: Bench) -> None:
    bench.orchestrator.counts = False
    bench.start()
    bench.orchestrator.wait(lambda: len(bench.orchestrator.beats) >= 3)
    assert 0 == bench.executor.link.ping().free

    bench.orchestrator.counts = True

    bench.wait_until_counted()
    assert "SUCCEEDED" == bench.run("shell", "true").state


def test_what_runs_dies_when_no_beat_counts_any_more(bench: Bench) -> None:
    bench.start(rhythm=(0.1, 0.05, 1.5))
    process = bench.begin("shell", f"{RUN_AWAY}\n{NAP[4]}")
    builtin = bench.begin("builtin", "sleep 600")
    until(lambda: len(sleepers()) >= 5)

    bench.orchestrator.counts = False

    assert ["LOST", "LOST"] == [bench.result(order).state for order in (process, builtin)]
    assert [] == sleepers()
    with pytest.raises(AssertionError):
        bench.reserve()


def test_a_late_start_finds_a_silent_executor_closed(bench: Bench) -> None:
    bench.start(rhythm=(0.1, 0.05, 1.5))
    reservation = bench.reserve()
    bench.orchestrator.counts = False
    until(lambda: bench.executor.link.ping().free == 0 and bench.executor.link.renew(reservation))
    until(lambda: not bench.executor.link.ping().free)

    until(lambda: _refused_as_silent(bench, reservation))


def _refused_as_silent(bench: Bench, reservation: str) -> bool:
    bench.executor.link.renew(reservation)
    silent = StartAnswer(False, "no beat of this executor counts now")
    return [silent] == bench.executor.link.start(reservation, [bench.order("builtin", "noop")])


def test_a_condemned_incarnation_kills_all_and_begins_again(bench: Bench) -> None:
    bench.start()
    first = bench.incarnation
    order = bench.begin("shell", f"{RUN_AWAY}\n{NAP[4]}")
    until(lambda: len(sleepers()) >= 5)

    bench.orchestrator.condemned.add(first)

    until(lambda: bench.incarnation != first)
    assert [] == sleepers()
    assert ("LOST", first) == (bench.result(order).state, bench.result(order).incarnation)
    bench.wait_until_counted()
    assert first < bench.incarnation
    bench.orchestrator.wait(
        lambda: any(b.incarnation > first and b.leftovers_done for b in bench.orchestrator.beats)
    )
    assert "SUCCEEDED" == bench.run("shell", "true").state


def test_a_stop_kills_what_runs_and_reports_it(bench: Bench) -> None:
    bench.start()
    order = bench.begin("shell", f"{RUN_AWAY}\n{NAP[4]}")
    until(lambda: len(sleepers()) >= 5)

    bench.stop()

    assert "LOST" == bench.orchestrator.got[order.key].state
    assert [] == sleepers()


def test_a_drain_lets_what_runs_end(bench: Bench) -> None:
    bench.start()
    order = bench.begin("shell", "sleep 0.3; echo done")

    bench.running = False
    bench.executor.stop(drain=True)

    assert "SUCCEEDED" == bench.orchestrator.got[order.key].state
    assert bench.orchestrator.beats[-1].draining


def test_an_executor_drains_when_its_orchestrator_says_so(bench: Bench) -> None:
    bench.start()

    bench.orchestrator.drains = True

    until(lambda: bench.executor.link.ping().draining)
    assert 0 == bench.executor.link.ping().free
    bench.orchestrator.drains = False
    bench.wait_until_counted()


def test_results_that_nobody_took_are_sent_by_the_next_life_before_it_is_done(bench: Bench) -> None:
    bench.orchestrator.accepts = False
    bench.start()
    first = bench.incarnation
    orders = [bench.begin("shell", "echo out"), bench.begin("builtin", "noop")]
    bench.orchestrator.wait(lambda: {o.key for o in orders} <= {r.key for r in bench.orchestrator.received})

    bench.restart()

    assert not any(beat.leftovers_done for beat in bench.orchestrator.beats)
    bench.orchestrator.accepts = True
    assert {first} == {bench.result(order).incarnation for order in orders}
    assert b"out\n" == bench.printed(bench.result(orders[0]))
    bench.orchestrator.wait(lambda: bench.orchestrator.beats[-1].leftovers_done)
    until(lambda: [] == list(bench.directory.glob("results/*.json")))


def test_a_life_without_leftovers_says_so_in_its_first_beat(bench: Bench) -> None:
    bench.start()

    bench.restart()

    assert bench.orchestrator.beats[0].leftovers_done


def test_a_result_waits_for_its_output_to_be_stored(bench: Bench) -> None:
    bench.start()
    order = bench.begin("shell", "echo up; read line < /dev/stdin; sleep 0.2; echo out")
    bench.prints(order, b"up")
    bench.blobs.away = True
    until(lambda: bench.executor.link.fence(bench.incarnation, [order.key]) == ["finished"])
    assert order.key not in bench.orchestrator.got

    bench.blobs.away = False

    assert b"up\nout\n" == bench.printed(bench.result(order))


def test_output_not_stored_yet_survives_the_executor(bench: Bench) -> None:
    bench.start()
    order = bench.begin("shell", "echo up; sleep 0.2; echo out")
    bench.prints(order, b"up")
    bench.blobs.away = True
    until(lambda: bench.executor.link.fence(bench.incarnation, [order.key]) == ["finished"])
    until(lambda: list(bench.directory.glob("results/*.json")))

    bench.restart()
    bench.blobs.away = False

    assert b"up\nout\n" == bench.printed(bench.result(order))


def test_results_go_out_when_the_orchestrator_is_back(bench: Bench) -> None:
    bench.start(rhythm=(0.5, 0.2, LONG_S))
    bench.orchestrator.away = True
    orders = [bench.begin("builtin", "noop") for _ in range(5)]
    until(lambda: list(bench.directory.glob("results/*.json")))

    bench.orchestrator.away = False

    assert {"SUCCEEDED"} == {bench.result(order).state for order in orders}


def test_two_executors_cannot_share_a_directory(bench: Bench) -> None:
    bench.start()

    with pytest.raises(Conflict) as refused:
        bench.new().start()

    assert "executor.directory_in_use" == refused.value.code


@pytest.mark.parametrize("slots", [0, 4097])
def test_a_number_of_slots_that_cannot_be_is_refused(bench: Bench, slots: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        bench.start(slots=slots)

    assert "/slots" == refused.value.pointer


def test_a_beat_tells_what_runs_and_what_is_here(bench: Bench) -> None:
    bench.start(labels={"zone": "a"}, tier=2)
    order = bench.begin("builtin", "sleep 600")

    bench.orchestrator.wait(lambda: bench.orchestrator.beats[-1].attempts == [order.key])

    beat = bench.orchestrator.beats[-1]
    assert ("e1", bench.incarnation, "local://e1") == (beat.executor, beat.incarnation, beat.address)
    assert (100, {"zone": "a"}, 2, "bubblewrap") == (beat.slots, beat.labels, beat.tier, beat.sandbox)
    assert {"binary", "builtin", "http", "python", "shell"} <= set(beat.runtimes)
    sequences = [beat.sequence for beat in bench.orchestrator.beats]
    assert sorted(set(sequences)) == sequences
