"""Who releases what when: late, twice, deposed, with a wrong clock."""

from __future__ import annotations

import pytest

from chronoshard.domain.bundle import Item, bundles_of
from chronoshard.domain.identity import partition_of
from chronoshard.domain.states import State
from chronoshard.failpoints import armed
from chronoshard.ports import Member
from tests.faults.scripted import HandClock
from tests.faults.world import SHARDS, World, once

MINUTES_5 = {"kind": "interval", "every": "5m"}


@pytest.mark.parametrize(("mode", "late"), [("all", [600, 900]), ("latest", [900]), ("none", [])])
def test_what_was_missed_runs_as_the_job_says(world: World, mode: str, late: list[int]) -> None:
    """Everything is away from just after the first run until 100 s after the third."""
    began_ms = world.clock.now_ms()
    job = world.submit(MINUTES_5, catchup={"mode": mode})
    world.run(302, step_s=2)
    assert 1 == len(world.starts(job))
    world.clock.advance(698)
    world.run(30)
    assert late == [(order.key.nominal_ms - began_ms) // 1000 for order in world.starts(job)[1:]]
    world.run(180, step_s=2)
    assert 1_200 == (world.starts(job)[-1].key.nominal_ms - began_ms) // 1000


@pytest.mark.parametrize("restarted", [False, True], ids=["lived_through", "restarted"])
def test_a_long_outage_of_an_every_second_job_is_one_record(world: World, restarted: bool) -> None:
    """Away for six hours: 21,600 occurrences. The worker remembers how far it had made rows, or is a new one."""
    job = world.submit({"kind": "interval", "every": "1s"})
    world.run(5)
    world.clock.advance(21_600)
    if restarted:
        world.shard_workers = [world.new_shard_worker("w1")]
    world.run(30)
    [skipped] = world.store.jobs.skipped(job.job_id)
    assert "catchup.latest" == skipped.reason
    assert skipped.until_ms - skipped.from_ms > 6 * 3_500_000
    nominals = [order.key.nominal_ms for order in world.starts(job)]
    assert len(set(nominals)) == len(nominals)
    assert max(nominals) > world.clock.now_ms() - 2_000


@pytest.mark.parametrize("point", ["shard_worker.made_ahead", "shard_worker.published"])
def test_two_owners_of_a_shard_start_a_run_once(world: World, point: str) -> None:
    """The first owner freezes in the middle of a release, the shards are given to another, who releases the same
    run; then the first goes on."""
    [first] = world.shard_workers
    job = world.submit()
    second = world.new_shard_worker("w2")

    def take_over() -> None:
        world.coordination.leave(Member("shard_worker", "w1"))
        world.master.tick()
        second.tick()
        world.orchestrate()

    world.clock.advance(1)
    world.beat()
    with armed(point, once(take_over)):
        first.tick()
    world.shard_workers = [first, second]
    world.run(15)
    assert 1 == len(world.starts(job))
    assert [State.RUNNING] == [row.state for row in world.rows(job)]


def test_a_deposed_masters_orders_are_refused(world: World) -> None:
    """The master loses its session between two orders; another leads by the time it gives the second."""
    second = world.new_master("m2")
    world.clock.advance(60)

    def depose() -> None:
        world.coordination.end_session()
        second.tick()

    with armed("master.assigned", once(depose)):
        world.master.tick()
    tick = world.coordination.last_tick()
    assert tick is not None
    assert 2 == tick.term
    assert 2 == world.coordination.assignments().term
    world.clock.advance(60)
    world.master.tick()
    assert tick == world.coordination.last_tick()
    second.tick()
    assert tick != world.coordination.last_tick()


def test_overlap_skip_drops_the_run_that_comes_while_one_is_live(world: World) -> None:
    job = world.submit({"kind": "interval", "every": "10s"}, overlap="skip")
    world.run(22)
    [order] = world.starts(job)
    assert [(State.RUNNING, None), (State.SKIPPED, "overlap.skip")] == world.outcomes(job)
    world.finish(order)
    world.run(10)
    assert 2 == len(world.starts(job))


def test_overlap_queue_starts_the_next_run_when_the_live_one_has_ended(world: World) -> None:
    """Also when the process that ended the live run died before it freed the job."""
    job = world.submit({"kind": "interval", "every": "10s"}, overlap="queue")
    world.run(32)
    [first] = world.starts(job)
    assert [State.RUNNING, None, None] == [row.state for row in world.rows(job)]
    world.following = False
    world.finish(first)
    world.run(4)
    [_, second] = world.starts(job)
    world.following = True
    world.finish(second)
    world.run(3)
    nominals = [order.key.nominal_ms for order in world.starts(job)]
    assert sorted(set(nominals)) == nominals
    assert 3 == len(nominals)


def test_an_edit_while_a_run_of_the_old_plan_waits_leaves_one_run_per_nominal_time(world: World) -> None:
    """The edit adds jitter, so the same nominal times get rows elsewhere; the old ones wait for a slot."""
    began_ms = world.clock.now_ms()
    start = "2027-01-15T08:01:00Z"
    job = world.submit({"kind": "interval", "every": "60s", "start": start})
    world.run(40)
    world.e1.slots = 0
    world.edit(job, trigger={"kind": "interval", "every": "60s", "start": start, "jitter": "20s"})
    world.run(85)
    world.e1.slots = 100
    world.run(50)  # until just before the next nominal time
    nominals = [(order.key.nominal_ms - began_ms) // 1000 for order in world.starts(job)]
    assert [60, 120] == sorted(nominals)
    assert {"schedule.superseded"} == {row.reason for row in world.rows(job) if row.state is State.SKIPPED}


def test_a_worker_whose_clock_is_an_hour_fast_releases_nothing_early(world: World) -> None:
    fast = world.new_shard_worker("w2", HandClock(world.clock, offset_ms=3_600_000))
    world.coordination.leave(Member("shard_worker", "w1"))
    world.shard_workers = [fast]
    job = world.submit({"kind": "interval", "every": "60s"})
    for _ in range(130):
        world.run(1)
        assert all(order.key.due_ms <= world.clock.now_ms() for order in world.starts(job))
    assert 2 == len(world.starts(job))


def test_a_claim_that_another_was_faster_with_starts_nothing_twice(world: World) -> None:
    """Two orchestrators have the same run: the first freezes between reserving and claiming, the second starts
    it; then the first goes on and finds the claim of the other."""
    job = world.submit()
    [first] = world.orchestrators
    row = world.row(job)
    for worker in world.shard_workers:
        worker.tick()
    second = world.new_orchestrator("o2")

    def overtake() -> None:
        world.coordination.leave(Member("orchestrator", "o1"))
        world.master.tick()
        world.broker.publish(bundles_of(partition_of(row.key, SHARDS), [(Item(row.key), job)]))
        world.broker.hurry()
        second.tick()

    world.beat()
    with armed("orchestrator.reserved", once(overtake)):
        world.broker.hurry()
        first.tick()
    world.orchestrators = [first, second]
    world.run(30)
    assert 1 == len(world.starts(job))
    assert world.starts(job)[0].token == world.row(job).claim


def test_a_claim_whose_orchestrator_died_before_the_start_is_taken_over(world: World) -> None:
    """The orchestrator dies right after the claim; the bundle comes again, to another, who asks the executor: it
    was not started and never will be. There is no other executor, so the run goes on as its next attempt."""
    job = world.submit()
    [first] = world.orchestrators
    for worker in world.shard_workers:
        worker.tick()

    def die() -> None:
        raise RuntimeError("dead")

    world.beat()
    world.broker.hurry()
    with armed("orchestrator.claimed", die), pytest.raises(RuntimeError, match="dead"):
        first.tick()
    old = world.row(job)
    assert State.RUNNING == old.state
    assert [] == world.starts(job)
    world.coordination.leave(Member("orchestrator", "o1"))
    for consumer in world.broker.consumers:
        consumer.close()
    world.broker.consumers.clear()
    world.orchestrators = [world.new_orchestrator("o2")]
    world.run(15)
    [order] = world.starts(job)
    assert [(old.key, "refused")] == world.e1.fences
    assert [State.LOST, State.RUNNING] == [row.state for row in world.rows(job)]
    assert order.token == world.rows(job)[-1].claim
