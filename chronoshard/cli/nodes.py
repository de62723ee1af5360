"""`get nodes`, `get shards`, `get queues`: what operators look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from chronoshard.cli.failures import Exit
from chronoshard.cli.output import Output, show
from chronoshard.cli.session import connect, reader
from chronoshard.cli.table import render
from chronoshard.cli.words import Reader
from chronoshard.client import Client
from chronoshard.client.transport import Json

_NODES = ("name", "part", "state", "free", "slots", "attempts", "runtimes", "sandbox", "tier", "url")
_SHARDS = ("shard", "worker", "slice", "orchestrator", "term", "from_time")
_QUEUES = ("queue", "tier", "priority", "slice", "bundles")


def nodes(*, output: Output = "table") -> int:
    """List the processes of the system and their load.

    Examples:
      chronoshard get nodes
    """
    return _list(lambda client: client.admin.nodes(), output, _NODES)


def shards(*, output: Output = "table") -> int:
    """List the shards and who owns them.

    Examples:
      chronoshard get shards -o json
    """
    return _list(lambda client: client.admin.shards(), output, _SHARDS)


def queues(*, output: Output = "table") -> int:
    """List the broker's queues and what waits in them.

    Examples:
      chronoshard get queues
    """
    return _list(lambda client: client.admin.queues(), output, _QUEUES)


def columns_of(items: Sequence[Json], columns: Sequence[str], view: Reader) -> str:
    """Return a table of these fields of the items."""
    rows = [tuple(_shown(column, item.get(column), view) for column in columns) for item in items]
    return render([column.upper().replace("_", " ") for column in columns], rows)


def _list(read: Callable[[Client], Iterator[Json]], output: Output, columns: Sequence[str]) -> int:
    """Print a list; its names are what is in its first column."""
    view = reader()
    with connect() as client:
        items = list(read(client))
    names = [str(item[columns[0]]) for item in items]
    show(items, output, table=lambda: columns_of(items, columns, view), names=names)
    return Exit.OK


def _shown(column: str, value: object, view: Reader) -> object:
    if isinstance(value, str) and column.endswith(("_at", "_time")):
        return view.both_of(value)
    if column == "attempts" and isinstance(value, list):
        return len(value)
    if isinstance(value, list):
        return ",".join(str(entry) for entry in value)
    return value
