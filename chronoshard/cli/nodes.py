"""`get nodes`, `get shards`, `get queues`: what operators look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from chronoshard.cli.output import Output, show
from chronoshard.cli.session import connect, reader
from chronoshard.cli.table import render
from chronoshard.cli.words import Reader
from chronoshard.client import Client
from chronoshard.client.transport import Json


def nodes(*, output: Output = "table") -> int:
    """List the processes of the system and their load.

    Examples:
      chronoshard get nodes
    """
    return _list(lambda client: client.admin.nodes(), output)


def shards(*, output: Output = "table") -> int:
    """List the shards and who owns them.

    Examples:
      chronoshard get shards -o json
    """
    return _list(lambda client: client.admin.shards(), output)


def queues(*, output: Output = "table") -> int:
    """List the broker's queues and what waits in them.

    Examples:
      chronoshard get queues
    """
    return _list(lambda client: client.admin.queues(), output)


def plain_table(items: Sequence[Json], view: Reader) -> str:
    """Return a table of whatever fields the items have, in the server's order."""
    columns = list(dict.fromkeys(key for item in items for key, value in item.items() if _is_plain(value)))
    rows = [tuple(_shown(column, item.get(column), view) for column in columns) for item in items]
    return render([column.upper() for column in columns], rows) if columns else "none"


def _list(read: Callable[[Client], Iterator[Json]], output: Output) -> int:
    view = reader()
    with connect() as client:
        items = list(read(client))
    show(items, output, table=lambda: plain_table(items, view), names=_names(items))
    return 0


def _names(items: Sequence[Json]) -> list[str]:
    return [str(next(iter(item.values()))) for item in items if item]


def _is_plain(value: object) -> bool:
    return not isinstance(value, dict)


def _shown(column: str, value: object, view: Reader) -> object:
    if isinstance(value, str) and column.endswith(("_at", "_time", "seen", "beat")):
        return view.both_of(value)
    if isinstance(value, list):
        return ",".join(str(entry) for entry in value)
    return value
