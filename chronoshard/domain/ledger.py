"""The proof, per partition, that everything due was started, skipped for a recorded reason, or is still open."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from chronoshard.domain.attempt import Row
from chronoshard.domain.states import State


class Totals(msgspec.Struct, frozen=True):
    """Counts of a partition's rows when they were last read. A cache: `verify` counts rows."""

    rows: int = 0
    open: int = 0
    succeeded: int = 0
    failed: int = 0
    skipped: int = 0
    lost: int = 0
    cancelled: int = 0


class Mark(msgspec.Struct, frozen=True):
    """How far a partition is: closing, then closed, then settled."""

    closing: bool = False
    closed: bool = False
    settled: bool = False
    totals: Totals = Totals()


_FIELD = {
    State.SUCCEEDED: "succeeded",
    State.FAILED: "failed",
    State.TIMED_OUT: "failed",
    State.SKIPPED: "skipped",
    State.LOST: "lost",
    State.CANCELLED: "cancelled",
}


def totals(rows: Iterable[Row]) -> Totals:
    """Count rows by what became of them."""
    counts = dict.fromkeys(Totals.__struct_fields__, 0)
    for row in rows:
        counts["rows"] += 1
        counts["open" if row.state is None else _FIELD.get(row.state, "open")] += 1
    return Totals(**counts)


def add(one: Totals, other: Totals) -> Totals:
    """Return the sums of two counts."""
    return Totals(*(getattr(one, field) + getattr(other, field) for field in Totals.__struct_fields__))


def is_settled(row: Row) -> bool:
    """Say whether a row needs nobody's attention any more."""
    return row.state in _FIELD and row.followed
