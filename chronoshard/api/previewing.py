"""What a trigger means: in words, and as times with what daylight saving does to them."""

from __future__ import annotations

from datetime import UTC, datetime

from chronoshard.api.definition import dst_of, trigger_of
from chronoshard.api.documents import Document
from chronoshard.api.requests import PreviewBody
from chronoshard.api.text import rfc3339
from chronoshard.domain.preview import annotated, describe
from chronoshard.domain.timezones import zone_of
from chronoshard.domain.trigger import Cron, next_occurrences, validated


def preview(body: PreviewBody, *, now_ms: int) -> Document:
    """Return the description and the next times of a trigger; raise InvalidInput."""
    dst = dst_of(body.dst)
    trigger = validated(trigger_of(body.trigger, now_ms=now_ms), now_ms=now_ms, job_id="")
    zone = zone_of(trigger.zone) if isinstance(trigger, Cron) else UTC
    times = []
    for nominal_ms in next_occurrences(trigger, after_ms=now_ms - 1, dst=dst, count=body.count):
        local = datetime.fromtimestamp(nominal_ms / 1000, UTC).astimezone(zone)
        note = annotated(trigger, nominal_ms, dst)
        entry = {"utc": rfc3339(nominal_ms), "local": local.isoformat()}
        times.append({**entry, "note": note} if note is not None else entry)
    return {"description": describe(trigger), "times": times}
