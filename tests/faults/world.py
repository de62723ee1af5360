"""The whole system on real local adapters, its parts driven by hand: time passes only when a test says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from chronoshard.adapters.blobs import ObstoreBlobs
from chronoshard.adapters.local_dedupe import LocalDedupe
from chronoshard.adapters.sqlite import SqliteStore
from chronoshard.api import create, edit
from chronoshard.api.context import Context
from chronoshard.api.requests import JobBody, JobPatch
from chronoshard.api.run_now import run_now
from chronoshard.clock import Clock
from chronoshard.domain.attempt import Row
from chronoshard.domain.identity import Partition, Run, minute_of, shard_of
from chronoshard.domain.job import Head
from chronoshard.following import Following
from chronoshard.health_checker import HealthChecker
from chronoshard.link import Ended, Result, StartOrder
from chronoshard.master import Master
from chronoshard.orchestrator import Orchestrator
from chronoshard.orchestrator.orders import Limits
from chronoshard.planning import Planner
from chronoshard.ports import Member
from chronoshard.settings import Settings
from chronoshard.shard_worker import ShardWorker
from tests.faults.scripted import HandClock, PromptBroker, PromptCoordination, ScriptedExecutor

SHARDS = 2
SLICES = 1
RETENTION_MINUTES = 1_440


def once(action: Callable[[], object]) -> Callable[[], None]:
    """Return an action for a failpoint that is done the first time only."""
    left = [action]

    def fire() -> None:
        if left:
            left.pop()()

    return fire


class World:
    """One of each part, one executor `e1`. `following` False: the orchestrator's consequences are not written."""

    def __init__(self, data: Path) -> None:
        self.clock = HandClock()
        self.store = SqliteStore.open(data / "chronoshard.db", shards=SHARDS, clock=self.clock)
        self.broker = PromptBroker(slices=SLICES)
        self.coordination = PromptCoordination(data / "coordination.json", self.clock)
        self.dedupe = LocalDedupe(self.clock)
        self.planner = Planner(self.store, self.dedupe, self.clock, shards=SHARDS)
        self.follower = Following(self.store, self.planner)
        self.executors: dict[str, ScriptedExecutor] = {}
        self.e1 = self.executor("e1")
        self.context = Context(
            store=self.store,
            blobs=ObstoreBlobs.local(data / "blobs"),
            broker=self.broker,
            coordination=self.coordination,
            planner=self.planner,
            following=self.follower,
            clock=self.clock,
            settings=Settings(shards=SHARDS, slices=SLICES),
            executor_links=self.link,
        )
        self.following = True
        self.master = self.new_master("m1")
        self.orchestrators = [self.new_orchestrator("o1")]
        self.shard_workers = [self.new_shard_worker("w1")]
        self.health_checkers = [self.new_health_checker("h1")]
        self.tick()

    def close(self) -> None:
        self.store.close()

    # --- parts

    def link(self, address: str) -> ScriptedExecutor:
        return self.executors[address]

    def executor(self, name: str, *, slots: int = 100) -> ScriptedExecutor:
        executor = ScriptedExecutor(name, slots=slots)
        self.executors[executor.address] = executor
        return executor

    def new_master(self, name: str) -> Master:
        self.coordination.join(Member("master", name))
        return Master(
            name,
            self.store,
            self.coordination,
            self.clock,
            shards=SHARDS,
            slices=SLICES,
            retention_minutes=RETENTION_MINUTES,
        )

    def new_shard_worker(self, name: str, clock: Clock | None = None) -> ShardWorker:
        self.coordination.join(Member("shard_worker", name))
        worker = ShardWorker(
            name,
            self.store,
            self.broker,
            self.coordination,
            self.dedupe,
            self.planner,
            self.follower,
            clock or self.clock,
        )
        self.dedupe.subscribe(worker._hear)  # what start() does beside the thread
        return worker

    def new_orchestrator(self, name: str) -> Orchestrator:
        self.coordination.join(Member("orchestrator", name, f"local://{name}"))
        return Orchestrator(
            name,
            f"local://{name}",
            self.store,
            self.broker,
            self.coordination,
            self.follower,
            self.clock,
            self.link,
            shards=SHARDS,
            limits=Limits(1_000_000, 512),
        )

    def new_health_checker(self, name: str) -> HealthChecker:
        self.coordination.join(Member("health_checker", name))
        return HealthChecker(
            name,
            self.store,
            self.broker,
            self.coordination,
            self.planner,
            self.follower,
            self.clock,
            shards=SHARDS,
            slices=SLICES,
            retention_minutes=RETENTION_MINUTES,
        )

    # --- time

    def tick(self) -> None:
        """Let every part do one pass."""
        self.beat()
        self.master.tick()
        for worker in self.shard_workers:
            worker.tick()
        self.orchestrate()
        for health_checker in self.health_checkers:
            health_checker.tick()

    def beat(self) -> None:
        for executor in self.executors.values():
            if not executor.silent:
                self.orchestrators[0].beat(executor.beat())

    def orchestrate(self) -> None:
        for orchestrator in self.orchestrators:
            self.broker.hurry()
            orchestrator.tick()
        if self.following:
            self.follow()

    def follow(self) -> None:
        """Do what the orchestrators' second threads do."""
        for orchestrator in self.orchestrators:
            orchestrator._results._follow()

    def run(self, seconds: float, *, step_s: float = 1.0) -> None:
        """Let time pass, with a pass of every part in each step."""
        for _ in range(round(seconds / step_s)):
            self.clock.advance(step_s)
            self.tick()

    # --- clients

    def submit(self, trigger: str | dict[str, Any] = "now", **fields: Any) -> Head:
        body = {
            "task": {"runtime": "builtin", "source": "noop"},
            "trigger": {"kind": trigger} if isinstance(trigger, str) else trigger,
            **fields,
        }
        one = create.draft(self.context, JobBody.model_validate(body), create.Origin("anna"))
        return create.create(self.context, one, keyed=False).head

    def head(self, job: Head) -> Head:
        return self.store.jobs.heads([job.job_id])[job.job_id]

    def pause(self, job: Head) -> None:
        edit.pause(self.context, self.head(job), None)

    def resume(self, job: Head) -> None:
        edit.resume(self.context, self.head(job))

    def delete(self, job: Head) -> None:
        edit.delete(self.context, self.head(job), if_match=None)

    def edit(self, job: Head, **fields: Any) -> None:
        edit.patch(self.context, self.head(job), JobPatch.model_validate(fields), if_match=None)

    def run_now(self, job: Head) -> Run:
        return run_now(self.context, self.head(job), {}, key=None)

    # --- what happened

    def finish(self, order: StartOrder, state: Ended = "SUCCEEDED", *, executor: str = "e1") -> list[bool]:
        """Report a result to the first orchestrator."""
        result = Result(
            key=order.key,
            token=order.token,
            executor=executor,
            incarnation=order.incarnation,
            state=state,
            started_ms=self.clock.now_ms(),
            finished_ms=self.clock.now_ms(),
            exit_code=0 if state == "SUCCEEDED" else 1,
        )
        answer = self.orchestrators[0].results(executor, [result])
        if self.following:
            self.follow()
        return answer

    def rows(self, job: Head, *, minutes: int = 120) -> list[Row]:
        """Return a job's rows up to now, in the order of the timetable."""
        now_ms = self.clock.now_ms()
        shard = shard_of(job.job_id, SHARDS)
        return [
            row
            for minute in range(minute_of(now_ms) - minutes, minute_of(now_ms) + 1)
            for row in self.store.timetable.page(Partition(minute, shard), after=None, limit=10_000)
            if row.key.job_id == job.job_id and row.key.due_ms <= now_ms
        ]

    def row(self, job: Head) -> Row:
        """Return the job's only row."""
        [row] = self.rows(job)
        return row

    def outcomes(self, job: Head) -> list[tuple[str | None, str | None]]:
        """Return state and reason of each row."""
        return [(row.state, row.reason) for row in self.rows(job)]

    def starts(self, job: Head) -> list[StartOrder]:
        return [o for e in self.executors.values() for o in e.starts if o.key.job_id == job.job_id]
