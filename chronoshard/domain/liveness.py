"""Who has been silent too long.

Nothing of an executor may be called LOST before its incarnation is condemned, and nobody is condemned by a watcher
who has not watched long enough himself (invariants 4 and 10).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

BEAT_INTERVAL_S = 10.0
RESEND_S = 3.0  # a beat that has not counted by then is sent again, to another orchestrator
SELF_KILL_S = 20.0  # after the sending of the last beat that counted an executor kills all that it runs
SILENCE_S = 20.0  # after so long without a recorded beat an incarnation may be condemned
LOST_AFTER_S = 22.0  # after the condemnation: by then the executor has certainly killed everything
FLEET_SHARE_PER_MINUTE = 0.2  # a network split must not take the whole fleet at once

assert SILENCE_S > BEAT_INTERVAL_S + 2 * RESEND_S
assert LOST_AFTER_S > SELF_KILL_S


class Incarnation(NamedTuple):
    """One life of an executor. Ids of later lives sort after those of earlier ones."""

    executor: str
    id: str


class Sighting(NamedTuple):
    """The newest beat of one incarnation, by the monotonic clock of the one who read it."""

    incarnation: Incarnation
    seen_s: float


def to_condemn(
    sightings: Sequence[Sighting], *, now_s: float, watching_since_s: float, recently_condemned: int = 0
) -> list[Incarnation]:
    """Return the silent incarnations, longest silent first, at most one or a fifth of the fleet per minute.

    `watching_since_s` is the start of the caller's unbroken series of successful reads, `recently_condemned` how
    many were condemned within the last minute, by anybody.
    """
    if now_s - watching_since_s < SILENCE_S:
        return []
    silent = sorted((s for s in sightings if now_s - s.seen_s >= SILENCE_S), key=lambda s: s.seen_s)
    fleet = len(sightings) + recently_condemned
    quota = max(1, int(fleet * FLEET_SHARE_PER_MINUTE)) - recently_condemned
    return [s.incarnation for s in silent[: max(0, quota)]]
