"""What a process left half done, or what got lost on the way, is finished by somebody else, once."""

from __future__ import annotations

from chronoshard.domain.liveness import LOST_AFTER_S, SILENCE_S, Incarnation
from chronoshard.domain.states import State
from chronoshard.failpoints import armed
from tests.faults.world import World, once


def test_two_that_make_the_same_next_attempt_make_one_row(world: World) -> None:
    """The orchestrator freezes after a failure is final; the audit makes the retry, which starts; then the
    orchestrator wakes up and makes it as well."""
    job = world.submit(retries={"max": 1, "delay": 1})
    world.run(2)
    [first] = world.starts(job)
    world.following = False
    world.finish(first, "FAILED")
    assert not world.row(job).followed
    world.run(180)
    assert [first.key.attempt + 1] == [order.key.attempt for order in world.starts(job)[1:]]
    before = world.rows(job)
    world.following = True
    world.run(10)
    assert before == world.rows(job)
    assert 2 == len(world.starts(job))


def test_the_orchestrators_own_follow_up_finds_the_health_checkers_half_way(world: World) -> None:
    """Both are between the final row and the next attempt at the same time."""
    job = world.submit(retries={"max": 1, "delay": 1})
    world.run(2)
    [first] = world.starts(job)
    other = once(lambda: world.follower.follow([world.row(job)]))
    with armed("following.before", other):
        world.finish(first, "FAILED")
    world.run(5)
    assert [State.FAILED, State.RUNNING] == [row.state for row in world.rows(job)]
    assert 2 == len(world.starts(job))


def test_what_follows_from_a_final_row_is_derived_by_the_audit_when_its_process_died(world: World) -> None:
    """The orchestrator dies right after the row is final: no history, no retry, not followed."""
    job = world.submit(retries={"max": 1, "delay": 1})
    world.run(2)
    [first] = world.starts(job)
    world.following = False
    world.finish(first, "FAILED")
    assert [] == world.store.history.of_run(first.key.run)
    world.orchestrators = [world.new_orchestrator("o1")]  # a new process that remembers nothing
    world.run(180)
    assert [State.FAILED] == [ended.state for ended in world.store.history.of_run(first.key.run)]
    assert [(State.FAILED, True), (State.RUNNING, False)] == [(r.state, r.followed) for r in world.rows(job)]
    assert 2 == len(world.starts(job))


def test_a_row_written_after_its_minute_was_closed_is_reopened_and_released(world: World) -> None:
    """The api freezes between the request and its row for so long that the row's minute is closed."""
    job = world.submit("manual")
    with armed("api.requested", once(lambda: world.run(200))):
        run = world.run_now(job)
    assert run.nominal_ms < world.clock.now_ms() - 180_000
    world.run(3)
    [order] = world.starts(job)
    assert run == order.key.run
    world.finish(order)
    world.run(30)
    assert [{}, {}] == [dict(world.store.minutes.reopened(shard)) for shard in range(2)]


def test_what_the_broker_lost_is_released_again(world: World) -> None:
    """The run is published, confirmed and marked; the broker forgets everything."""
    world.e1.slots = 0
    job = world.submit()
    orchestrators, world.orchestrators = world.orchestrators, []
    for worker in world.shard_workers:
        worker.tick()
    assert 1 == world.broker.lose_everything()
    world.orchestrators, world.e1.slots = orchestrators, 100
    world.run(50)
    assert [] == world.starts(job)
    world.run(90)
    assert 1 == len(world.starts(job))


def test_a_silent_executor_is_condemned_only_by_who_watched_long_enough(world: World) -> None:
    """The executor has been silent for an hour when the watcher begins; its run is lost no sooner than 22 s after
    the condemnation."""
    job = world.submit()
    world.run(2)
    world.e1.silent = True
    old, world.health_checkers = world.health_checkers, []
    world.run(3_600, step_s=60)
    for health_checker in old:
        world.coordination.leave(world.coordination.members("health_checker")[0])
        assert health_checker.name == "h1"
    world.health_checkers = [world.new_health_checker("h2")]
    began_s = world.clock.monotonic_s()
    world.tick()
    e1 = Incarnation("e1", world.e1.incarnation)
    while not world.coordination.is_condemned(e1):
        assert State.RUNNING == world.row(job).state
        world.run(1)
    condemned_s = world.clock.monotonic_s()
    assert SILENCE_S == condemned_s - began_s
    while [State.RUNNING] == [row.state for row in world.rows(job)]:
        world.run(1)
    assert LOST_AFTER_S == world.clock.monotonic_s() - condemned_s
    assert State.LOST == world.rows(job)[0].state
