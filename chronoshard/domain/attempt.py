"""The rows of the timetable and the only ways in which they change.

An attempt is one row. What is *planned* follows from identity alone, so that whoever makes a row makes the
same row; what *happened* changes only by the conditional changes below, each of which names the state that it
comes from (invariants 3, 5 and 6). `made` is implied: a row without its plan is not there.
"""

from __future__ import annotations

import msgspec

from chronoshard.domain.identity import AttemptKey
from chronoshard.domain.states import Cause, State


class Output(msgspec.Struct, frozen=True, omit_defaults=True):
    """How much each stream printed and kept, in bytes; the text is in the blob store."""

    stdout_bytes: int = 0
    stderr_bytes: int = 0
    stdout_truncated: bool = False
    stderr_truncated: bool = False


class Plan(msgspec.Struct, frozen=True):
    """What is known of an attempt before anything happens to it.

    `generation` is that of the job when the row was planned (for requests: accepted); `ordinal` counts the
    occurrences of its trigger from 0; `retries` and `requeues` are what the attempts before it have used up.
    """

    key: AttemptKey
    owner: str
    cause: Cause
    generation: int
    ordinal: int = 0
    retries: int = 0
    requeues: int = 0


class Row(msgspec.Struct):
    """A plan and what became of it. `state` None means due: nobody has taken it yet.

    `finished_ms`, `exit_code`, `error`, `output` are set by the end; `next_due_ms` and `next_cause` are set when
    another attempt is owed, and are the only thing that lets it exist.
    """

    key: AttemptKey
    owner: str
    cause: Cause
    generation: int
    ordinal: int
    retries: int
    requeues: int
    state: State | None = None
    reason: str | None = None
    claim: str | None = None
    executor: str | None = None
    incarnation: str | None = None
    generation_ran: int | None = None
    started_ms: int | None = None
    finished_ms: int | None = None
    exit_code: int | None = None
    error: str | None = None
    output: Output | None = None
    next_due_ms: int | None = None
    next_cause: Cause | None = None
    next_generation: int | None = None
    cancel_requested: bool = False
    followed: bool = False

    @property
    def due_ms(self) -> int:
        return self.key.due_ms

    @property
    def plan(self) -> Plan:
        return Plan(self.key, self.owner, self.cause, self.generation, self.ordinal, self.retries, self.requeues)


class Claim(msgspec.Struct, frozen=True):
    """Take a due attempt: from no state and no claim to RUNNING under `token`."""

    key: AttemptKey
    token: str
    executor: str
    incarnation: str
    started_ms: int


class Dismiss(msgspec.Struct, frozen=True):
    """End a due attempt without running it: from no state and no claim straight to a final state."""

    key: AttemptKey
    token: str
    state: State  # CANCELLED or SKIPPED, LOST for a poisoned one
    reason: str
    finished_ms: int


class Move(msgspec.Struct, frozen=True):
    """Hand a claim to another executor: from RUNNING under `token` to RUNNING under `new_token`.

    Only after the first executor has certainly not started it and never will.
    """

    key: AttemptKey
    token: str
    new_token: str
    executor: str
    incarnation: str
    started_ms: int


class End(msgspec.Struct, frozen=True):
    """The one accepted result: from RUNNING under `token` to a final state, with what is owed next."""

    key: AttemptKey
    token: str
    state: State
    finished_ms: int
    started_ms: int | None = None
    generation_ran: int | None = None
    reason: str | None = None
    exit_code: int | None = None
    error: str | None = None
    output: Output | None = None
    next_due_ms: int | None = None
    next_cause: Cause | None = None


class AskCancel(msgspec.Struct, frozen=True):
    """Note on a running attempt that it shall be killed: from RUNNING under any claim."""

    key: AttemptKey


class OweAgain(msgspec.Struct, frozen=True):
    """A user's retry: from the final `state` that was read, with nothing owed yet, to one owed.

    `next_generation` is the job's when the retry was accepted: a pause before it does not stop it.
    """

    key: AttemptKey
    state: State
    next_due_ms: int
    next_generation: int
    next_cause: Cause = Cause.USER_RETRY


Change = Claim | Dismiss | Move | End | AskCancel | OweAgain


def is_done(change: Change, row: Row) -> bool:
    """Say whether `row` shows that this very change was applied before: a repeat after a lost answer."""
    match change:
        case Claim(token=token):
            return row.state is State.RUNNING and row.claim == token
        case Move(new_token=token):
            return row.state is State.RUNNING and row.claim == token
        case Dismiss():
            return row.claim == change.token and row.state is change.state
        case End():
            return (row.claim, row.state, row.finished_ms, row.next_due_ms) == (
                change.token,
                change.state,
                change.finished_ms,
                change.next_due_ms,
            )
        case AskCancel():
            return row.cancel_requested
        case OweAgain():
            return row.next_due_ms == change.next_due_ms and row.next_cause is change.next_cause


def is_possible(change: Change, row: Row) -> bool:
    """Say whether `row` is in the state that the change comes from."""
    match change:
        case Claim() | Dismiss():
            return row.state is None and row.claim is None
        case Move() | End():
            return row.state is State.RUNNING and row.claim == change.token
        case AskCancel():
            return row.state is State.RUNNING
        case OweAgain():
            return row.state is change.state and row.next_due_ms is None


def successor(row: Row) -> Plan | None:
    """Return the plan of the attempt that the end of `row` owes: a pure function of its cells."""
    if row.next_due_ms is None or row.next_cause is None:
        return None
    key = AttemptKey(row.next_due_ms, row.key.job_id, row.key.nominal_ms, row.key.origin, row.key.attempt + 1)
    retries, requeues = row.retries, row.requeues
    match row.next_cause:
        case Cause.RETRY:
            retries += 1
        case Cause.INFRASTRUCTURE:
            requeues += 1
        case _:  # a user's retry starts counting afresh
            retries, requeues = 0, 0
    generation = row.next_generation or row.generation
    return Plan(key, row.owner, row.next_cause, generation, row.ordinal, retries, requeues)
