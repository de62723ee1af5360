"""How runs start, end and are called off, and what a lost or a late message changes about it: nothing."""

from __future__ import annotations

import pytest

from chronoshard.domain.bundle import Item, bundles_of
from chronoshard.domain.identity import partition_of
from chronoshard.domain.states import State
from chronoshard.runs import attempts_of
from tests.faults.world import SHARDS, World


def test_a_due_run_is_started_once_and_its_result_makes_it_final_with_history(world: World) -> None:
    """Nothing goes wrong: due, claimed, started, ended, followed."""
    job = world.submit()
    world.run(2)
    [order] = world.starts(job)
    assert State.RUNNING == world.row(job).state
    assert order.token == world.row(job).claim
    assert [True] == world.finish(order)
    row = world.row(job)
    assert (State.SUCCEEDED, True) == (row.state, row.followed)
    [ended] = world.store.history.of_run(row.key.run)
    assert (State.SUCCEEDED, "e1", 0) == (ended.state, ended.executor, ended.exit_code)


def test_a_bundle_that_comes_twice_starts_its_run_once(world: World) -> None:
    """The same bundle is published again before the first copy is placed, and once more after it has started;
    a second orchestrator takes part, which does not remember the claims of the first."""
    job = world.submit()
    world.orchestrators.append(world.new_orchestrator("o2"))
    world.master.tick()
    row = world.row(job)
    twin = bundles_of(partition_of(row.key, SHARDS), [(Item(row.key), job)])
    world.broker.publish(twin)
    world.run(2)
    first, second = world.orchestrators
    world.orchestrators = [second, first]
    world.coordination.leave(world.coordination.members("orchestrator")[0])
    world.master.tick()
    world.broker.publish(twin)
    world.run(20)
    assert 1 == len(world.starts(job))
    assert State.RUNNING == world.row(job).state
    assert {} == world.broker.depths()


def test_a_result_after_lost_is_refused_and_the_newer_attempts_result_counts(world: World) -> None:
    """e1 falls silent with a run, is condemned, the run goes to e2; then e1 comes back with its result."""
    job = world.submit()
    world.run(2)
    [old] = world.starts(job)
    world.e1.silent = True
    world.executor("e2")
    world.run(60)
    [_, new] = world.starts(job)
    assert 1 == new.key.attempt
    assert [True] == world.finish(old)
    assert [State.LOST, State.RUNNING] == [row.state for row in world.rows(job)]
    world.finish(new, executor="e2")
    assert [State.LOST, State.SUCCEEDED] == [row.state for row in world.rows(job)]
    assert [State.LOST, State.SUCCEEDED] == [h.state for h in world.store.history.of_run(new.key.run)]


@pytest.mark.parametrize("resumed", [False, True], ids=["paused", "resumed"])
@pytest.mark.parametrize("waiting", ["run", "retry", "run_now"])
def test_what_waits_when_a_pause_is_answered_never_starts(world: World, waiting: str, resumed: bool) -> None:
    """No slot is free, so the attempt waits with the orchestrator; the job is paused (and resumed); then there is
    a slot."""
    job = world.submit("manual" if waiting == "run_now" else "now", retries={"max": 1, "delay": 1})
    if waiting == "retry":
        world.run(2)
        [order] = world.starts(job)
        world.e1.slots = 0
        world.beat()
        world.finish(order, "FAILED")
    if waiting == "run_now":
        world.run_now(job)
    started = len(world.starts(job))
    world.e1.slots = 0
    world.run(8)
    assert (None, None) == world.outcomes(job)[-1]
    world.pause(job)
    if resumed:
        world.run(8)
        world.resume(job)
        world.run(8)
    world.e1.slots = 100
    world.run(10)
    assert started == len(world.starts(job))
    assert (State.SKIPPED, "job.paused") == world.outcomes(job)[-1]
    assert world.rows(job)[-1].followed


def test_a_run_that_waits_when_its_job_is_deleted_is_cancelled(world: World) -> None:
    """No slot is free; the job is deleted; then there is a slot."""
    world.e1.slots = 0
    job = world.submit()
    world.run(3)
    world.delete(job)
    world.e1.slots = 100
    world.run(5)
    assert [] == world.starts(job)
    assert [(State.CANCELLED, "job.deleted")] == world.outcomes(job)


def test_a_start_whose_replies_are_lost_is_found_running_and_not_started_again(world: World) -> None:
    """The executor accepts, every reply is lost; the orchestrator asks what became of it. Another is free."""
    world.e1.lost_replies = 3
    job = world.submit()
    world.tick()
    world.executor("e2")
    world.run(20)
    [order] = world.starts(job)
    assert [(order.key, "running")] == world.e1.fences
    world.finish(order)
    assert [State.SUCCEEDED] == [row.state for row in world.rows(job)]


def test_a_refused_start_is_moved_under_a_new_token(world: World) -> None:
    """The first start is refused, the claim is there already; the second try is accepted."""
    world.e1.refusals = 1
    job = world.submit()
    world.run(2)
    [refused] = world.e1.refused
    [order] = world.starts(job)
    assert refused.key == order.key
    assert refused.token != order.token
    assert order.token == world.row(job).claim
    assert 1 == len(attempts_of(world.store, world.head(job), order.key.run))
