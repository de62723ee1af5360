"""Conditional batches: all or nothing, so what is refused is dropped and the rest tried again.

A time-out is normal operation: the same changes with the same tokens are repeated until the store has applied
or refused them (a change that was applied already counts as applied).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from chronoshard.domain.attempt import Change, Row, is_done, is_possible
from chronoshard.domain.bundle import MAX_ATTEMPTS
from chronoshard.domain.identity import AttemptKey, Partition, partition_of
from chronoshard.errors import OutcomeUnknown
from chronoshard.ports import Timetable

UNKNOWN_REPEATS = 5  # a store that never answers becomes Unavailable for the caller

T = TypeVar("T")


class Applied(NamedTuple):
    """Which changes hold now, and the row (None: there is none) that refused each of the others."""

    done: list[Change]
    refused: list[tuple[Change, Row | None]]


def apply_all(timetable: Timetable, partition: Partition, changes: Sequence[Change]) -> Applied:
    """Apply every change that can be applied, in batches of MAX_ATTEMPTS; at most one row is tried twice for
    each refusal round. Raises Unavailable when the store does not answer."""
    done: list[Change] = []
    refused: list[tuple[Change, Row | None]] = []
    for start in range(0, len(changes), MAX_ATTEMPTS):
        batch = list(changes[start : start + MAX_ATTEMPTS])
        while batch:
            rows = _apply(timetable, partition, batch)
            if rows is None:
                done += batch
                break
            keep = [change for change, row in zip(batch, rows, strict=True) if _may_apply(change, row)]
            if len(keep) == len(batch):  # it was refused and has become possible since: try it as it is
                continue
            refused += [
                (change, row) for change, row in zip(batch, rows, strict=True) if not _may_apply(change, row)
            ]
            batch = keep
    return Applied(done, refused)


def _apply(timetable: Timetable, partition: Partition, batch: list[Change]) -> list[Row | None] | None:
    for _ in range(UNKNOWN_REPEATS):
        try:
            return timetable.apply(partition, batch)
        except OutcomeUnknown as error:
            unknown = error
    raise unknown


def _may_apply(change: Change, row: Row | None) -> bool:
    return row is not None and (is_done(change, row) or is_possible(change, row))


def by_partition(items: Iterable[T], shards: int, key: Callable[[T], AttemptKey]) -> dict[Partition, list[T]]:
    """Group things that have an attempt key by the partition it lives in."""
    groups: dict[Partition, list[T]] = defaultdict(list)
    for item in items:
        groups[partition_of(key(item), shards)].append(item)
    return groups
