"""Lists: pages of `{items, next_cursor}` read as one sequence, never more than was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chronoshard.client.transport import Json, Transport

PAGE = 200  # the most that the server gives at once


def items_of(
    transport: Transport, path: str, params: Mapping[str, object], *, limit: int | None
) -> Iterator[Json]:
    """Yield the items of all pages, at most `limit` of them; None: all there are."""
    cursor: str | None = None
    left = limit
    while left is None or left > 0:
        page_size = PAGE if left is None else min(PAGE, left)
        page = transport.get(path, {**params, "limit": page_size, "cursor": cursor}).json()
        items = page["items"] if left is None else page["items"][:left]
        yield from items
        if left is not None:
            left -= len(items)
        cursor = page.get("next_cursor")
        if cursor is None:
            return
