"""The part that runs tasks on a worker machine.

It takes starts (see Served), beats, and reports results. It holds no credentials of
a store or a broker. Each incarnation is a Life; a condemned one is ended and followed by the next.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Condition
from typing import Any

import msgspec
import structlog

from chronoshard.clock import Clock
from chronoshard.errors import InvalidInput
from chronoshard.executor.beats import Beats, Rhythm
from chronoshard.executor.directory import DataDirectory
from chronoshard.executor.launch import Launch
from chronoshard.executor.life import Equipment, Life
from chronoshard.executor.orchestrators import Orchestrators
from chronoshard.executor.reporter import Reporter
from chronoshard.executor.runtimes import find_runtimes
from chronoshard.executor.sandbox import LANES, open_sandbox
from chronoshard.executor.served import Served
from chronoshard.executor.spool import Spooled
from chronoshard.executor.tasks import Tasks
from chronoshard.link import Address, Beat, BeatAnswer, ExecutorLink, OrchestratorLink, Result
from chronoshard.ports.blobs import Blobs

log = structlog.get_logger(__name__)

CANCELLED = "cancelled by request"
FLUSH_S = 2.0  # how long a stop waits for its last results to be accepted; the rest stays on disk


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What an executor offers and how it treats tasks. `temporary_mb` is each task's private disk."""

    slots: int = 64  # attempts that run in processes, at once
    builtin_slots: int = 4096  # attempts of runtime `builtin`, which need no process
    tier: int = 1
    labels: dict[str, str] = {}
    pids: int = 256  # processes of one attempt
    temporary_mb: int = 256
    readable: tuple[str, ...] = ()  # host paths that tasks may read, besides the system's
    require_sandbox: bool = False
    control_groups: bool = True  # else the supervisor adds up process trees, as it does where there are none
    rhythm: Rhythm = Rhythm()


class Executor:
    """`connect` opens a link to an orchestrator; `orchestrators` are the first known; `address` is our own.

    `link` is what orchestrators reach it by; usable once it has started. `options` are those of Options.
    """

    def __init__(
        self,
        name: str,
        directory: Path,
        blobs: Blobs,
        clock: Clock,
        *,
        address: str,
        orchestrators: Sequence[Address],
        connect: Callable[[Address], OrchestratorLink],
        **options: Any,
    ) -> None:
        self.name = name
        self.address = address
        self._options = Options(**options)
        if not 1 <= self._options.slots <= LANES:
            raise InvalidInput(
                f"{self._options.slots} slots: an executor has 1 to {LANES}",
                code="executor.slots",
                pointer="/slots",
            )
        self._root = directory
        self._clock = clock
        self._blobs = blobs
        self._orchestrators = Orchestrators(name, orchestrators, connect)
        self.link: ExecutorLink = Served(name, lambda: self._life)
        self._changed = Condition()
        self._drain_asked = False  # by our own side; the orchestrators' word comes with each beat
        self._sequence = 0

    def start(self) -> None:
        """Test the sandbox, end what earlier lives left, and begin to beat.

        Raises Conflict (the directory is in use), Unavailable (a sandbox is required and there is none).
        """
        self._directory = DataDirectory(self._root)
        try:
            self._equipment = self._equip()
            self._reporter = Reporter(
                self.name,
                self._directory.results,
                self._directory.lives,
                self._blobs,
                self._orchestrators,
                self._clock,
                self._accepted,
            )
            self._life = self._begin()
        except BaseException:
            self._directory.close()
            raise
        self._beats = Beats(
            self._orchestrators,
            self._clock,
            self._options.rhythm,
            make=self._beat,
            counted=self._counted,
            condemned=self._bury,
            check=lambda: self._life.check(),
        )
        self._reporter.start()
        self._beats.start()

    def stop(self, *, drain: bool = False) -> None:
        """Stop; with `drain` only when everything that runs has ended and been reported.

        Otherwise what runs is killed and reported as LOST. Results that nobody accepts now stay on disk.
        """
        if drain:
            self._drain_asked = self._life.draining = True
            self._beats.now()
            with self._changed:
                self._changed.wait_for(lambda: not self._life.running())
        self._beats.stop()
        self._life.end("the executor was stopped")
        self._reporter.wait_until_open(0, timeout_s=FLUSH_S)
        self._reporter.stop()
        self._directory.close()

    @property
    def sandbox(self) -> str:
        """What walls tasks in here, and if it is not a sandbox, why."""
        sandbox = self._sandbox
        return f"{sandbox.kind}: {sandbox.reason}" if sandbox.reason else sandbox.kind

    def _equip(self) -> Equipment:
        options, directory = self._options, self._directory
        runtimes = find_runtimes()
        self._sandbox = open_sandbox(
            directory.users,
            python=runtimes.get("python").command,
            readable=[*runtimes.readable, *options.readable],
            temporary_bytes=options.temporary_mb * 1024 * 1024,
            required=options.require_sandbox,
        )
        tasks = Tasks(self._blobs, directory.tasks)
        launch = Launch(directory.lives, tasks, runtimes, self._sandbox, pids=options.pids)
        return Equipment(
            self.name,
            options.slots,
            options.builtin_slots,
            directory.group if options.control_groups else "",
            directory.lives,
            self._clock,
            launch,
            tasks,
            runtimes,
        )

    def _begin(self) -> Life:
        """Begin a life: when this returns, nothing of the ones before is live."""
        incarnation = self._directory.new_incarnation(self._clock.now_ms())
        life = Life(self._equipment, incarnation, self._report)
        life.draining = self._drain_asked
        log.info("executor.begun", executor=self.name, incarnation=incarnation, limits=life.limits)
        return life

    def _beat(self) -> Beat:
        options, life = self._options, self._life
        self._sequence += 1
        return Beat(
            self.name,
            life.incarnation,
            self._sequence,
            self.address,
            options.slots,
            life.free(),
            os.getloadavg()[0] / (os.cpu_count() or 1),
            self._equipment.runtimes.names,
            options.labels,
            options.tier,
            self.sandbox,
            life.running(),
            leftovers_done=self._reporter.open(but=life.incarnation) == 0,
            draining=life.draining,
        )

    def _counted(self, beat: Beat, answer: BeatAnswer, alive_until_s: float) -> None:
        life = self._life
        if beat.incarnation != life.incarnation:
            return
        life.keep_alive(alive_until_s)
        life.draining = self._drain_asked or answer.drain
        if answer.kills:
            life.kill(life.incarnation, answer.kills, CANCELLED)
        if beat.leftovers_done:
            self._directory.forget_lives(but=life.incarnation)

    def _bury(self, incarnation: str) -> None:
        """A condemned life: whatever it ran may run elsewhere by now."""
        if incarnation != self._life.incarnation:
            return
        log.warning("executor.condemned", executor=self.name, incarnation=incarnation)
        self._life.end("the incarnation of its executor was condemned")
        self._life = self._begin()
        self._beats.now()

    def _report(self, items: Sequence[Spooled]) -> None:
        self._reporter.add(items)
        with self._changed:
            self._changed.notify_all()

    def _accepted(self, results: Sequence[Result]) -> None:
        life = self._life
        life.accepted(results)
        old = any(result.incarnation != life.incarnation for result in results)
        if old and self._reporter.open(but=life.incarnation) == 0:
            self._beats.now()  # the orchestrators wait to hear that what earlier lives left is settled
