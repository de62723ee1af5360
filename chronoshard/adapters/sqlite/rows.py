"""How rows of the timetable are found and read."""

from __future__ import annotations

from chronoshard.adapters.sqlite.query import flag
from chronoshard.domain.attempt import Row

KEY = ("due_ms", "job_id", "nominal_ms", "origin", "attempt")


def _cell(field: str) -> str:
    match field:
        case "key":
            return f"json_array({', '.join(KEY)})"
        case "output":
            return "json(output)"
        case "cancel_requested" | "followed":
            return flag(field)
    return field


# The JSON of a Row. Columns are named like its fields, and spelt out by it: none can be forgotten.
_CELLS = ", ".join(f"'{field}', {_cell(field)}" for field in Row.__struct_fields__)
ROW = f"json_object({_CELLS})"


def same_key(path: str) -> str:
    """Return the condition that a row has the key at `path` in the item, and the item's shard.

    The shard comes with the item too: beside a constant one SQLite would rather walk through the whole shard than
    look each row up.
    """
    keys = " AND ".join(f"{column} = item.value ->> '{path}[{n}]'" for n, column in enumerate(KEY))
    return f"timetable.shard = item.shard AND {keys}"
