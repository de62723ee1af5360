"""What operators look at: the parts that are there, who has what, the ledger's marks, the queues."""

from __future__ import annotations

from chronoshard.api.context import Context
from chronoshard.api.documents import Document
from chronoshard.api.text import rfc3339
from chronoshard.domain.identity import MINUTE_MS, Partition, minute_of
from chronoshard.domain.ledger import Mark, Totals
from chronoshard.link import Beat

PARTS = ("master", "shard_worker", "orchestrator", "health_checker", "api")
MAX_MINUTES = 1_440


def nodes(context: Context) -> list[Document]:
    """Return every live part; of an executor its newest life."""
    found: list[Document] = [
        {"part": part, "name": member.name, "url": member.url or None}
        for part in PARTS
        for member in context.coordination.members(part)
    ]
    newest: dict[str, Beat] = {}
    for beat in context.store.executors.beats():
        known = newest.get(beat.executor)
        if known is None or beat.incarnation > known.incarnation:
            newest[beat.executor] = beat
    draining = context.store.executors.draining()
    condemned: set[tuple[str, str]] = set(context.coordination.condemned())
    return found + [_executor(newest[name], name in draining, condemned) for name in sorted(newest)]


def _executor(beat: Beat, draining: bool, condemned: set[tuple[str, str]]) -> Document:
    gone = (beat.executor, beat.incarnation) in condemned
    return {
        "part": "executor",
        "name": beat.executor,
        "url": beat.address,
        "incarnation": beat.incarnation,
        "state": "condemned" if gone else "draining" if draining or beat.draining else "up",
        "slots": beat.slots,
        "free": beat.free,
        "load": beat.load,
        "runtimes": beat.runtimes,
        "labels": beat.labels,
        "tier": beat.tier,
        "sandbox": beat.sandbox,
        "draining": draining or beat.draining,
        "attempts": [key.name for key in beat.attempts],
    }


def shards(context: Context) -> list[Document]:
    """Return each shard with its worker and the orchestrator of its slice."""
    assigned = context.coordination.assignments()
    slices = context.settings.slices
    return [
        {
            "shard": shard,
            "worker": assigned.shards.get(shard),
            "slice": shard % slices,
            "orchestrator": assigned.slices.get(shard % slices),
            "term": assigned.term,
            "from_time": rfc3339(assigned.minute * MINUTE_MS),
        }
        for shard in range(context.settings.shards)
    ]


def queues(context: Context) -> list[Document]:
    """Return the queues in which something waits, by tier, priority and slice."""
    depths = context.broker.depths()
    return [
        {
            "queue": f"{queue.tier}.{queue.priority}.{queue.slice}",
            "tier": queue.tier,
            "priority": f"P{queue.priority}",
            "slice": queue.slice,
            "bundles": depths[queue],
        }
        for queue in sorted(depths)
    ]


def minutes(context: Context, *, from_ms: int | None, to_ms: int | None) -> list[Document]:
    """Return the ledger's marks of the minutes in a window, newest first; the last hour without one."""
    until = minute_of(context.clock.now_ms() if to_ms is None else to_ms) + 1
    begin = until - 60 if from_ms is None else minute_of(from_ms)
    begin = max(begin, until - MAX_MINUTES, 0)
    found: dict[Partition, Mark] = {}
    for shard in range(context.settings.shards):
        marks = context.store.minutes.marks(shard, from_minute=begin, until_minute=until)
        found.update({Partition(minute, shard): mark for minute, mark in marks.items()})
    watermark = context.coordination.watermark()
    return [_minute(at, found[at], watermark) for at in sorted(found, key=lambda at: (-at.minute, at.shard))]


def _minute(at: Partition, mark: Mark, watermark: int | None) -> Document:
    stage = "settled" if mark.settled else "closed" if mark.closed else "closing" if mark.closing else "open"
    counts = {field: getattr(mark.totals, field) for field in Totals.__struct_fields__}
    below = watermark is not None and at.minute < watermark
    return {
        "minute_time": rfc3339(at.minute * MINUTE_MS),
        "shard": at.shard,
        "mark": stage,
        "below_watermark": below,
        **counts,
    }
