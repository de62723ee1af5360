"""Ends claimed attempts that may not start, with the reason."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from chronoshard.batches import apply_all
from chronoshard.clock import Clock
from chronoshard.domain.attempt import End
from chronoshard.domain.identity import AttemptKey, Partition
from chronoshard.domain.validity import Refusal
from chronoshard.following import Following
from chronoshard.ports import Timetable

log = structlog.get_logger(__name__)


class Refusing:
    def __init__(self, timetable: Timetable, following: Following, clock: Clock) -> None:
        self._timetable = timetable
        self._following = following
        self._clock = clock

    def refuse(self, partition: Partition, refused: Sequence[tuple[AttemptKey, Refusal]], token: str) -> None:
        """Take the own claims to the final states that the heads demand."""
        if not refused:
            return
        now_ms = self._clock.now_ms()
        changes = [End(key, token, why.state, now_ms, reason=why.reason) for key, why in refused]
        done = apply_all(self._timetable, partition, changes).done
        rows = self._timetable.rows([change.key for change in done])
        self._following.follow([row for row in rows if row is not None])
        log.info("runs.refused", partition=partition, count=len(done), reason=refused[0][1].reason)
