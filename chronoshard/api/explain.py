"""Why a run has not started, or what happened to each of its attempts, in sentences."""

from __future__ import annotations

from chronoshard.api.context import Context
from chronoshard.api.documents import Attempt, Document, run_document
from chronoshard.api.finding import attempts
from chronoshard.api.text import duration, rfc3339
from chronoshard.domain.identity import Run, shard_of
from chronoshard.domain.job import Head, Status
from chronoshard.domain.states import Cause, State, run_state

_WHY = {
    Cause.SCHEDULE: "because its schedule said so",
    Cause.REQUEST: "because somebody asked for it",
    Cause.RETRY: "because the attempt before it failed",
    Cause.INFRASTRUCTURE: "because the attempt before it was lost with its executor",
    Cause.USER_RETRY: "because somebody asked for one more",
}


def explained(context: Context, head: Head, run: Run) -> Document:
    """Return a run's state with the reasons for it. Raises NotFound."""
    found = attempts(context, head, run)
    now_ms = context.clock.now_ms()
    reasons = [_told(one, now_ms) for one in found]
    last = found[-1]
    if last.state is None:
        reasons += _waiting(context, head, run, last, now_ms)
    elif last.next_due_ms is not None:
        reasons.append(f"Another attempt is owed at {rfc3339(last.next_due_ms)}.")
    return {
        "run_id": run.id,
        "job_id": run.job_id,
        "state": run_state(found, now_ms),
        "reasons": reasons,
        "attempts": run_document(run, found, now_ms=now_ms)["attempts"],
    }


def _told(one: Attempt, now_ms: int) -> str:
    begin = f"Attempt {one.attempt}, there {_WHY[one.cause]},"
    where = f" on {one.executor}" if one.executor else ""
    if one.state is None:
        when = (
            f"is due at {rfc3339(one.due_ms)}"
            if one.due_ms > now_ms
            else f"has been due since {rfc3339(one.due_ms)}"
        )
        return f"{begin} {when}."
    if one.state is State.RUNNING:
        since = f" since {rfc3339(one.started_ms)}" if one.started_ms is not None else ""
        asked = "; it was asked to end" if one.cancel_requested else ""
        return f"{begin} runs{where}{since}{asked}."
    facts = [
        one.reason,
        f"exit code {one.exit_code}" if one.exit_code is not None else None,
        one.error,
        f"after {duration(one.finished_ms - one.started_ms)}"
        if one.started_ms is not None and one.finished_ms is not None and one.finished_ms >= one.started_ms
        else None,
    ]
    details = ", ".join(fact for fact in facts if fact)
    state = one.state.value.lower().replace("_", " ")
    return f"{begin} ended as {state}{where}{': ' if details else ''}{details}."


def _waiting(context: Context, head: Head, run: Run, last: Attempt, now_ms: int) -> list[str]:
    if last.due_ms > now_ms:
        return [f"It starts in {duration((last.due_ms - now_ms) // 1000 * 1000)}."]
    reasons = []
    if head.status is not Status.SCHEDULED:
        reasons.append(f"Its job is {head.status.value}{': ' + head.reason if head.reason else ''}.")
    if head.live_run is not None and head.live_run != run.id and head.overlap != "allow":
        reasons.append(f"Its job allows one run at a time, and {head.live_run} is live.")
    beats = [beat for beat in context.store.executors.beats() if not beat.draining]
    able = [beat for beat in beats if head.runtime in beat.runtimes or head.runtime in ("builtin", "http")]
    if not beats:
        reasons.append("No executor is there.")
    elif not able:
        reasons.append(f"No executor that is there has the runtime {head.runtime}.")
    elif not any(beat.free for beat in able):
        reasons.append("Every executor that could run it is full.")
    shard = shard_of(run.job_id, context.settings.shards)
    assigned = context.coordination.assignments()
    if shard not in assigned.shards:
        reasons.append(f"Nobody has its shard {shard}: is a master there, and a shard worker?")
    if shard % context.settings.slices not in assigned.slices:
        reasons.append(f"No orchestrator has its slice {shard % context.settings.slices}.")
    return reasons or ["It is on its way to an executor."]
