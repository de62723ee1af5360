"""What the server finds when it looks at itself: each check with one line of advice where it fails."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from typing import NamedTuple

from chronoshard.api.context import Context
from chronoshard.api.documents import Document
from chronoshard.domain.timezones import tzdata_version
from chronoshard.errors import ChronoshardError

SKEW_MS = 1_000
SLOW_MS = 100
FREE_SHARE = 0.05
BEHIND_MINUTES = 5


class Check(NamedTuple):
    check: str
    ok: bool
    detail: str
    advice: str | None = None


def examine(context: Context) -> list[Document]:
    """Return every check; one that cannot be made has failed."""
    looks: tuple[tuple[str, Callable[[Context], Check]], ...] = (
        ("store", _store),
        ("store clock", _skew),
        ("assignments", _assignments),
        ("watermark", _watermark),
        ("executors", _executors),
        ("sandbox", _sandbox),
        ("queues", _queues),
        ("time zones", _zones),
        ("disk", _disk),
    )
    return [_made(name, look, context)._asdict() for name, look in looks]


def _made(name: str, look: Callable[[Context], Check], context: Context) -> Check:
    try:
        return look(context)
    except ChronoshardError as error:
        return Check(name, False, error.detail, error.hint or "look at the server's log")


def _store(context: Context) -> Check:
    began_s = context.clock.monotonic_s()
    said = context.store.ping()
    took_ms = round((context.clock.monotonic_s() - began_s) * 1000)
    return Check("store", took_ms < SLOW_MS, f"{said}, {took_ms} ms", "it is slow: look at its load and its disk")


def _skew(context: Context) -> Check:
    skew_ms = context.store.now_ms() - context.clock.now_ms()
    return Check("store clock", abs(skew_ms) < SKEW_MS, f"{skew_ms:+} ms", "set the clocks of all machines by NTP")


def _assignments(context: Context) -> Check:
    assigned = context.coordination.assignments()
    shards, slices = context.settings.shards, context.settings.slices
    whole = len(assigned.shards) == shards and len(assigned.slices) == slices
    detail = f"{len(assigned.shards)} of {shards} shards, {len(assigned.slices)} of {slices} slices"
    return Check("assignments", whole, detail, "start a master, a shard worker and an orchestrator")


def _watermark(context: Context) -> Check:
    minute = context.coordination.watermark()
    if minute is None:
        return Check("watermark", True, "no minute has been closed yet")
    behind = context.clock.now_ms() // 60_000 - minute
    advice = "shard workers do not keep up: start more of them, or look at their log"
    return Check("watermark", behind <= BEHIND_MINUTES, f"{behind} min behind", advice)


def _executors(context: Context) -> Check:
    beats = context.store.executors.beats()
    detail = f"{len(beats)} there, {sum(beat.free for beat in beats)} slots free"
    return Check("executors", bool(beats), detail, "start an executor")


def _sandbox(context: Context) -> Check:
    kinds = sorted({beat.sandbox for beat in context.store.executors.beats()})
    safe = bool(kinds) and not any(kind in ("none", "plain", "process") for kind in kinds)
    advice = "tasks are not shut off from the machine: install bubblewrap and allow user namespaces"
    return Check("sandbox", safe, ", ".join(kinds) or "no executor is there", advice)


def _queues(context: Context) -> Check:
    waiting = sum(context.broker.depths().values())
    dead = len(context.broker.dead_letters(100))
    advice = "something was refused by every orchestrator: see the reasons in their log"
    return Check("queues", dead == 0, f"{waiting} bundles wait, {dead} dead letters", advice)


def _zones(context: Context) -> Check:
    return Check("time zones", True, f"tzdata {tzdata_version()}, Python {sys.version.split()[0]}")


def _disk(context: Context) -> Check:
    usage = shutil.disk_usage(tempfile.gettempdir())
    advice = "make room: output and results are kept on disk"
    return Check("disk", usage.free > usage.total * FREE_SHARE, f"{usage.free >> 20:,} MiB free", advice)
