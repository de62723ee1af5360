"""What has to survive: the timetable and what stands around it.

Plain writes are idempotent and may be repeated; conditional ones name the state they come from. Nothing here
needs more than one partition at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from chronoshard.domain.access import AuditEntry, KeptAnswer, Token
from chronoshard.domain.attempt import Change, Plan, Row
from chronoshard.domain.history import HistoryRow
from chronoshard.domain.identity import AttemptKey, Partition, Run
from chronoshard.domain.job import Head, Intent, Request, Skipped, Spec
from chronoshard.domain.ledger import Mark, Totals
from chronoshard.domain.liveness import Incarnation
from chronoshard.link import Beat


class Timetable(Protocol):
    """Queue, run state and ledger in one: partitions of rows, ordered by AttemptKey."""

    def insert(self, plans: Sequence[Plan]) -> None:
        """Make rows, durable on return. A row that is there keeps everything that happened to it."""

    def page(self, partition: Partition, *, after: AttemptKey | None, limit: int) -> list[Row]:
        """Return up to `limit` rows in key order; a short page is the last one."""

    def rows(self, keys: Sequence[AttemptKey]) -> list[Row | None]:
        """Return the newest state of each (a serial read)."""

    def apply(self, partition: Partition, changes: Sequence[Change]) -> list[Row | None] | None:
        """Apply all changes or none. None: all are durable. Otherwise nothing was changed, and for each change
        its row as it is now (None where there is none), in the order given.

        A change whose `is_done` already holds counts as applicable: a repeat is a success. Keys are distinct
        and all of `partition`. Raises OutcomeUnknown: repeat the same call.
        """

    def follow(self, keys: Sequence[AttemptKey]) -> None:
        """Note that everything that follows from these final rows has been done."""

    def running_on(self, incarnations: Collection[Incarnation]) -> list[Row]:
        """Return every RUNNING row under these incarnations, those claimed a moment ago included."""


class Minutes(Protocol):
    """The ledger's marks, one per partition."""

    def mark_closing(self, partitions: Sequence[Partition]) -> None:
        """Set the closing mark. It is never taken back."""

    def closing(self, partitions: Collection[Partition]) -> set[Partition]:
        """Return those that carry the mark, by the newest state."""

    def close(self, totals: Mapping[Partition, Totals]) -> None:
        """Write the totals of the last read: the partition is closed."""

    def settle(self, partitions: Mapping[Partition, Totals]) -> None:
        """Note that nothing of it is open any more and everything final has been followed."""

    def marks(self, shard: int, *, from_minute: int, until_minute: int) -> dict[int, Mark]:
        """Return the marks of a shard's minutes in [from, until) that have any."""

    def reopen(self, partitions: Collection[Partition]) -> None:
        """Ask the health checker to look at partitions again that were written to after their mark."""

    def reopened(self, shard: int) -> dict[str, Partition]:
        """Return what was asked for, by id."""

    def forget_reopened(self, shard: int, ids: Collection[str]) -> None: ...


class Jobs(Protocol):
    """Heads, specs, names, intents, requests. Heads change by compare-and-set on their generation."""

    def insert(self, jobs: Sequence[tuple[Head, Spec]]) -> None:
        """Insert fresh jobs, durable on return. A head that is there is left as it is."""

    def create(self, head: Head, spec: Spec) -> Head:
        """Insert one unless it is there; return the head that is there now."""

    def heads(self, job_ids: Collection[str]) -> dict[str, Head]:
        """Return the newest heads of those that exist."""

    def change(self, head: Head, spec: Spec | None, *, expected_generation: int) -> bool:
        """Replace the head (but its live_run) if its generation is the expected one; the spec is written first.

        True also when the head is already the one given.
        """

    def set_live_run(self, job_id: str, *, expected: str | None, run_id: str | None) -> bool:
        """Compare-and-set of the head's live_run. True also when it already is `run_id`."""

    def specs(self, wanted: Collection[tuple[str, int]]) -> dict[tuple[str, int], Spec]:
        """Return the specs by (job_id, generation)."""

    def scan(self, shard: int, *, after: str, limit: int) -> list[Head]:
        """Return heads of a shard in the order of job ids, from after `after` ("" for the first)."""

    def of_owner(self, owner: str, *, before: str, limit: int) -> list[Head]:
        """Return an owner's jobs, newest id first, below `before` ("" for the newest); not the deleted."""

    def take_name(self, owner: str, name: str, job_id: str) -> str:
        """Give a free name to a job; return the job that has it now."""

    def drop_name(self, owner: str, name: str, job_id: str) -> None:
        """Free a name if this job has it."""

    def by_name(self, owner: str, name: str) -> str | None: ...

    def intend(self, intents: Sequence[Intent]) -> None: ...

    def intents(self, minute: int) -> list[Intent]: ...

    def forget_intents(self, intents: Sequence[Intent]) -> None: ...

    def request(self, requests: Sequence[Request]) -> list[Request]:
        """Insert each unless (job, origin) is there; return for each what is there now, the first one."""

    def requests(self, runs: Collection[Run]) -> dict[Run, Request]: ...

    def requests_of(self, job_id: str, *, before_ms: int, limit: int) -> list[Request]:
        """Return a job's requests, newest nominal first, below `before_ms`."""

    def skip(self, ranges: Sequence[Skipped]) -> None: ...

    def skipped(self, job_id: str) -> list[Skipped]: ...


class History(Protocol):
    """What has ended, for clients and analysts. Identical whoever writes it."""

    def write(self, rows: Sequence[HistoryRow]) -> None: ...

    def of_job(self, job_id: str, *, before: HistoryRow | None, limit: int) -> list[HistoryRow]:
        """Return attempts, newest (nominal, origin, attempt) first, below `before`."""

    def of_run(self, run: Run) -> list[HistoryRow]:
        """Return the ended attempts of one run, in order."""


class Executors(Protocol):
    """Beats, drains and kill orders, by executor and incarnation."""

    def record(self, beat: Beat) -> None:
        """Keep the newest beat of each incarnation, by sequence."""

    def beats(self) -> list[Beat]:
        """Return the newest beat of each incarnation that beat lately."""

    def order_kills(self, incarnation: Incarnation, keys: Sequence[AttemptKey]) -> None: ...

    def kills(self, incarnation: Incarnation) -> list[AttemptKey]: ...

    def forget(self, incarnations: Collection[Incarnation]) -> None:
        """Remove beats and kill orders of incarnations that are over."""

    def set_drain(self, executor: str, draining: bool) -> None: ...

    def draining(self) -> set[str]: ...


class Access(Protocol):
    """Tokens, kept answers, the audit log, settings."""

    def put_token(self, token: Token) -> None: ...

    def tokens(self) -> list[Token]: ...

    def token_by_hash(self, digest: str) -> Token | None: ...

    def revoke_token(self, token_id: str) -> bool: ...

    def take_key(self, answer: KeptAnswer) -> KeptAnswer | None:
        """Reserve an idempotency key; None: it is the caller's now. Otherwise what is kept under it."""

    def keep_answer(self, answer: KeptAnswer) -> None:
        """Replace what is reserved under the key by the answer."""

    def free_key(self, answer: KeptAnswer) -> None:
        """Give a reserved key back (an answer that is not kept)."""

    def audit(self, entry: AuditEntry) -> None: ...

    def audit_log(self, limit: int) -> list[AuditEntry]: ...

    def settings(self) -> dict[str, str]: ...

    def set_setting(self, key: str, value: str) -> None: ...


class Store(Protocol):
    """Everything above over one database."""

    @property
    def timetable(self) -> Timetable: ...

    @property
    def minutes(self) -> Minutes: ...

    @property
    def jobs(self) -> Jobs: ...

    @property
    def history(self) -> History: ...

    @property
    def executors(self) -> Executors: ...

    @property
    def access(self) -> Access: ...

    def now_ms(self) -> int:
        """Return the database's clock: the reference that parts compare theirs with."""

    def ping(self) -> str:
        """Return name and version of what answers."""

    def expire(self, *, now_ms: int, limit: int) -> int:
        """Remove what is past its retention, at most `limit` rows; return how many. Databases that expire by
        themselves return 0."""

    def iter_partitions(self, shard: int, *, from_minute: int, until_minute: int) -> Iterator[Partition]:
        """Return the partitions of a shard in [from, until) that may hold rows, in order."""

    def close(self) -> None: ...
