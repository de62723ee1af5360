"""Values that the suites of the store share: plans, claims, jobs, each with what does not matter filled in."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from chronoshard.domain.attempt import Change, Claim, End, Output, Plan, Row
from chronoshard.domain.history import HistoryRow
from chronoshard.domain.identity import MINUTE_MS, SCHEDULE, AttemptKey, Partition, Run, shard_of
from chronoshard.domain.job import Entry, Head, Spec, Status
from chronoshard.domain.liveness import Incarnation
from chronoshard.domain.states import Cause, State
from chronoshard.domain.trigger import Cron
from chronoshard.link import Beat
from chronoshard.ports import Store

SHARDS = 4
DUE_MS = 1_800_000_000_000
MINUTE = DUE_MS // MINUTE_MS
SHARD = 2
PARTITION = Partition(MINUTE, SHARD)
HOURLY = Cron("0 * * * *")


def job_ids(number: int, *, shard: int = SHARD) -> list[str]:
    """Return ids of jobs that all live in one shard, in ascending order."""
    found: list[str] = []
    for candidate in count():
        if len(found) == number:
            break
        if shard_of(job_id := f"{candidate:032x}", SHARDS) == shard:
            found.append(job_id)
    return found


JOB = job_ids(1)[0]


def key(job_id: str = JOB, *, due_ms: int = DUE_MS, attempt: int = 0, origin: int = SCHEDULE) -> AttemptKey:
    return AttemptKey(due_ms, job_id, DUE_MS, origin, attempt)


def plan(at: AttemptKey | None = None, *, cause: Cause = Cause.SCHEDULE) -> Plan:
    return Plan(at or key(), "ann", cause, generation=3, ordinal=7, retries=1, requeues=2)


def due(plan: Plan) -> Row:
    """Return the row that a plan becomes when it is inserted."""
    return Row(plan.key, plan.owner, plan.cause, plan.generation, plan.ordinal, plan.retries, plan.requeues)


def claim(at: AttemptKey | None = None, token: str = "mine", *, by: Incarnation | None = None) -> Claim:
    executor, incarnation = by or Incarnation("east", "life-1")
    return Claim(at or key(), token, executor, incarnation, started_ms=DUE_MS + 5)


def end(at: AttemptKey | None = None, token: str = "mine", state: State = State.SUCCEEDED) -> End:
    return End(
        at or key(),
        token,
        state,
        finished_ms=DUE_MS + 900,
        started_ms=DUE_MS + 10,
        generation_ran=4,
        exit_code=0,
        output=Output(stdout_bytes=12),
    )


def made(store: Store, *keys: AttemptKey) -> list[AttemptKey]:
    """Insert plans under these keys."""
    store.timetable.insert([plan(at) for at in keys])
    return list(keys)


def applied(store: Store, *changes: Change, partition: Partition = PARTITION) -> list[Row]:
    """Apply changes that must all be applicable; return their rows afterwards."""
    assert store.timetable.apply(partition, changes) is None
    return present(store, [change.key for change in changes])


def present(store: Store, keys: Sequence[AttemptKey]) -> list[Row]:
    """Return rows that must be there."""
    rows = [row for row in store.timetable.rows(keys) if row is not None]
    assert len(keys) == len(rows)
    return rows


def head(job_id: str = JOB, *, generation: int = 1, owner: str = "ann", status: Status = Status.SCHEDULED) -> Head:
    return Head(
        job_id=job_id,
        owner=owner,
        generation=generation,
        status=status,
        timeline=(Entry(DUE_MS, generation, HOURLY), Entry(DUE_MS + MINUTE_MS, generation + 1, None)),
        created_ms=DUE_MS,
        updated_ms=DUE_MS + generation,
        name="nightly \u00fc \u2603",
        tags={"team": "a", "env": "b"},
    )


def spec(job_id: str = JOB, *, generation: int = 1, params: bytes = b'{"x": "\\u0000"}') -> Spec:
    return Spec(job_id=job_id, generation=generation, trigger=HOURLY, runtime="shell", task_id="t", params=params)


def ended(run: Run, *, attempt: int = 0, next_due_ms: int | None = None, finished_ms: int = DUE_MS) -> HistoryRow:
    return HistoryRow(
        run,
        attempt,
        "ann",
        State.FAILED,
        Cause.SCHEDULE,
        due_ms=DUE_MS,
        finished_ms=finished_ms,
        started_ms=DUE_MS + 1,
        generation=2,
        executor="east",
        exit_code=3,
        error='it broke: "no"',
        output=Output(stderr_bytes=9, stderr_truncated=True),
        next_due_ms=next_due_ms,
    )


def beat(incarnation: Incarnation, sequence: int = 1, *, free: int = 4) -> Beat:
    return Beat(
        executor=incarnation.executor,
        incarnation=incarnation.id,
        sequence=sequence,
        address="local://east",
        slots=8,
        free=free,
        load=0.25,
        runtimes=["shell"],
        labels={"zone": "a"},
        tier=1,
        sandbox="none",
        attempts=[key()],
        leftovers_done=True,
    )
