"""What can be set, with units, defaults and limits. Read once at start, never at import."""

from __future__ import annotations

import msgspec


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes and limits of one system. `shards` is fixed when a system is installed."""

    shards: int = 16
    slices: int = 4
    executor_slots: int = 64  # attempts that one executor runs at once
    builtin_slots: int = 4096  # attempts of runtime `builtin`, which need no process
    executors: int = 1
    output_limit: int = 10 * 1024 * 1024  # bytes kept of each stream of an attempt
    memory_mb: int = 512  # of one attempt, its whole process tree
    pids: int = 256
    max_source: int = 16 * 1024 * 1024  # bytes of a task's code
    max_params: int = 64 * 1024  # bytes of a job's params as JSON
    max_batch: int = 1000  # jobs of one batch submit
    timetable_days: int = 7
    history_days: int = 180
    http_file_roots: tuple[str, ...] = ()  # directories that `file://` code locations may lie in
