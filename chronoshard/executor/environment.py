"""What a task sees: its environment, complete. Nothing of the host's gets in."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import msgspec

from chronoshard.executor.leftovers import INCARNATION_VARIABLE
from chronoshard.link import StartOrder

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
VALUE_BYTES = 100_000  # the kernel takes 128 KB per variable; longer params are on standard input only
_NO_NAME = re.compile(r"[^A-Za-z0-9]")


def run_marker(order: StartOrder) -> str:
    """Return the line of the environment by which the processes of this attempt are known."""
    return f"CHRONOSHARD_RUN_ID={order.key.run.id}"


def task_environment(order: StartOrder, *, home: str, temporary: str) -> dict[str, str]:
    """Return the whole environment of a task. `home` is its empty working directory."""
    return {
        "PATH": PATH,
        "LANG": "C.UTF-8",
        "HOME": home,
        "TMPDIR": temporary,
        **param_variables(order.params),
        "CHRONOSHARD_JOB_ID": order.key.job_id,
        "CHRONOSHARD_RUN_ID": order.key.run.id,
        "CHRONOSHARD_ATTEMPT": str(order.key.attempt),
        "CHRONOSHARD_NOMINAL_TIME": rfc3339(order.key.nominal_ms),
        INCARNATION_VARIABLE: order.incarnation,
    }


def param_variables(params: bytes) -> dict[str, str]:
    """Return CHRONOSHARD_PARAM_NAME for each param: strings bare, the rest as JSON.

    What no variable can hold (a zero byte, a very long text) is left out.
    """
    variables = {}
    for name, value in msgspec.json.decode(params, type=dict[str, object]).items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        if "\0" not in text and len(text.encode()) <= VALUE_BYTES:
            variables[f"CHRONOSHARD_PARAM_{_NO_NAME.sub('_', name).upper()}"] = text
    return variables


def rfc3339(time_ms: int) -> str:
    """Return the UTC time, with milliseconds only where there are some."""
    precision = "milliseconds" if time_ms % 1000 else "seconds"
    text = datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec=precision)
    return text.replace("+00:00", "Z")
