"""Ends claimed attempts that may not start, with the reason."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from chronoshard.batches import apply_all
from chronoshard.clock import Clock
from chronoshard.domain.attempt import End
from chronoshard.domain.ending import lost
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
        self._end(partition, [End(key, token, why.state, now_ms, reason=why.reason) for key, why in refused])
        log.info("runs.refused", partition=partition, count=len(refused), reason=refused[0][1].reason)

    def give_up(self, partition: Partition, key: AttemptKey, token: str, reason: str) -> None:
        """Take a claimed attempt that no executor would start to LOST, with what is owed for it."""
        [row] = self._timetable.rows([key])
        if row is not None and row.claim == token:
            self._end(partition, [lost(row, f"start refused: {reason}", self._clock.now_ms())])
            log.warning("attempt.given_up", run_id=key.run.id, attempt=key.attempt, reason=reason)

    def _end(self, partition: Partition, ends: Sequence[End]) -> None:
        done = apply_all(self._timetable, partition, ends).done
        rows = self._timetable.rows([change.key for change in done])
        self._following.follow([row for row in rows if row is not None])
