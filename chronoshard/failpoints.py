"""Named points at which a test can stop, freeze, delay or fail a part. Free when nothing is armed.

A test in the same process arms a point with a function; a process of its own is armed by the environment,
`CHRONOSHARD_FAILPOINTS="orchestrator.claimed=kill;shard_worker.published=freeze"`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_armed: dict[str, Callable[[], None]] = {}


def failpoint(name: str) -> None:
    """Do what is armed under `name`, if anything."""
    if _armed and (action := _armed.get(name)) is not None:
        action()


@contextmanager
def armed(name: str, action: Callable[[], None]) -> Iterator[None]:
    """Arm a point for the length of a block."""
    _armed[name] = action
    try:
        yield
    finally:
        _armed.pop(name, None)


def arm_from(text: str) -> None:
    """Arm points from `NAME=ACTION;...`; ACTION is `kill` (SIGKILL), `freeze` (SIGSTOP) or `raise`."""
    for part in filter(None, text.split(";")):
        name, _, action = part.partition("=")
        _armed[name] = _ACTIONS[action]


def _raise() -> None:
    raise RuntimeError("failpoint")


_ACTIONS: dict[str, Callable[[], None]] = {
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "freeze": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "raise": _raise,
}
