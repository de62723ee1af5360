"""The part that runs tasks on worker machines.

Loaded on demand: the supervisor is a program of this package that must start in milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chronoshard.executor.beats import Rhythm
    from chronoshard.executor.executor import Executor

__all__ = ["Executor", "Rhythm"]


def __getattr__(name: str) -> Any:
    if name == "Executor":
        from chronoshard.executor.executor import Executor

        return Executor
    if name == "Rhythm":
        from chronoshard.executor.beats import Rhythm

        return Rhythm
    raise AttributeError(name)
