"""The beats of an executor: one every BEAT_INTERVAL_S, again every RESEND_S until it has counted.

What an executor runs may live until SELF_KILL_S after the *sending* of the last beat that counted: by the time
anybody calls it LOST, it is dead (invariant 4).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Condition, Thread
from typing import NamedTuple

import structlog

from chronoshard.clock import Clock
from chronoshard.domain.liveness import BEAT_INTERVAL_S, RESEND_S, SELF_KILL_S
from chronoshard.errors import ChronoshardError
from chronoshard.executor.orchestrators import Orchestrators
from chronoshard.executor.supervisor import boottime_s
from chronoshard.failpoints import failpoint
from chronoshard.link import Beat, BeatAnswer

log = structlog.get_logger(__name__)

SENDERS = 8  # beats under way at the same time: an orchestrator that hangs delays the next by RESEND_S only
CHECK_S = 1.0


class Rhythm(NamedTuple):
    """How often, in seconds."""

    interval_s: float = BEAT_INTERVAL_S
    resend_s: float = RESEND_S
    self_kill_s: float = SELF_KILL_S


class Beats:
    """`make` builds the beat of this moment. `counted` is given each counted answer and how long what runs may
    live by it (boot time). `condemned` is given the incarnation of which an answer says so; `check` is called
    every second.
    """

    def __init__(
        self,
        orchestrators: Orchestrators,
        clock: Clock,
        rhythm: Rhythm,
        *,
        make: Callable[[], Beat],
        counted: Callable[[Beat, BeatAnswer, float], None],
        condemned: Callable[[str], None],
        check: Callable[[], None],
    ) -> None:
        self._orchestrators = orchestrators
        self._clock = clock
        self._rhythm = rhythm
        self._make = make
        self._counted = counted
        self._condemned = condemned
        self._check = check
        self._changed = Condition()
        self._next_s = 0.0  # when the next beat is sent, monotonic
        self._to_bury = ""  # an incarnation that was found to be condemned
        self._stopped = False
        self._senders = ThreadPoolExecutor(SENDERS, thread_name_prefix="executor-beat")
        self._thread = Thread(target=self._run, name="executor-beats", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def now(self) -> None:
        """Send one now: something has changed that the orchestrators should know."""
        with self._changed:
            self._next_s = 0.0
            self._changed.notify()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify()
        self._thread.join()
        self._senders.shutdown(wait=False, cancel_futures=True)

    def _run(self) -> None:
        while True:
            with self._changed:
                rest_s = min(self._next_s - self._clock.monotonic_s(), CHECK_S)
                if rest_s > 0 and not self._stopped and not self._to_bury:
                    self._changed.wait(rest_s)
                if self._stopped:
                    return
                condemned, self._to_bury = self._to_bury, ""
                due = self._clock.monotonic_s() >= self._next_s
                if due:  # unless it counts, it is sent again, to another
                    self._next_s = self._clock.monotonic_s() + self._rhythm.resend_s
            try:
                if condemned:
                    self._condemned(condemned)
                self._check()
                if due:
                    self._senders.submit(self._send, self._make())
            except Exception:
                log.exception("executor.beat_failed")

    def _send(self, beat: Beat) -> None:
        """Send one beat; on a thread of the pool. Its answer counts however late it comes."""
        address = None
        try:
            address, link = self._orchestrators.current()
            sent_s, sent_boot_s = self._clock.monotonic_s(), boottime_s()
            failpoint("executor.before_beat")
            answer = link.beat(beat)
        except Exception as error:
            cause = error.detail if isinstance(error, ChronoshardError) else repr(error)
            log.warning("executor.beat_not_sent", orchestrator=address and address.name, cause=cause)
            if address is not None:
                self._orchestrators.failed(address)
            return
        self._orchestrators.learn(answer.orchestrators)
        if answer.condemned:
            with self._changed:
                self._to_bury = beat.incarnation
                self._changed.notify()
        elif answer.counted:
            self._counted(beat, answer, sent_boot_s + self._rhythm.self_kill_s)
            with self._changed:
                self._next_s = max(self._next_s, sent_s + self._rhythm.interval_s)
        else:
            self._orchestrators.failed(address)
