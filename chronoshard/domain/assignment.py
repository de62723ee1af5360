"""Who has which shard or slice: bounded, sticky rendezvous hashing.

Everybody computes the same from the same input, in whatever order it was read. Nobody has more than his share
rounded up, and what need not move does not: a lost member's items go to the others, a new one takes only what
balance needs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence


def assign(items: Sequence[int], members: Sequence[str], previous: Mapping[int, str]) -> dict[int, str]:
    """Return who has each item. `previous` is who had it before; no members: nobody has anything."""
    if not members:
        return {}
    items, members = sorted(items), sorted(members)
    low, extra = divmod(len(items), len(members))
    held = _kept(items, members, previous, low, extra)
    taken = {item for mine in held.values() for item in mine}
    for item in (item for item in items if item not in taken):
        open_ = [m for m in members if len(held[m]) < low] or [
            m for m in members if len(held[m]) == low and _above(held, low) < extra
        ]
        held[max(open_, key=lambda member: _score(item, member))].append(item)
    return {item: member for member, mine in held.items() for item in mine}


def _kept(
    items: Sequence[int], members: Sequence[str], previous: Mapping[int, str], low: int, extra: int
) -> dict[str, list[int]]:
    """Return what each member keeps: as much as balance allows, what suits it best."""
    held: dict[str, list[int]] = {member: [] for member in members}
    for item in items:
        if previous.get(item) in held:
            held[previous[item]].append(item)
    allowed_above = extra
    for member, mine in sorted(held.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        mine.sort(key=lambda item: (-_score(item, member), item))
        if len(mine) > low:
            keep = low + (1 if allowed_above > 0 else 0)
            allowed_above -= keep > low
            del mine[keep:]
    return held


def _above(held: Mapping[str, list[int]], low: int) -> int:
    return sum(len(mine) > low for mine in held.values())


def _score(item: int, member: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{item}/{member}".encode(), digest_size=8).digest(), "big")
