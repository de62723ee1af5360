"""What attempts print: two files each while they run, in the blob store afterwards.

Stored before the result is reported: whoever sees a final state finds the output.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import get_args

from chronoshard.domain.identity import AttemptKey
from chronoshard.link import Stream, Tail
from chronoshard.ports.blobs import Blobs

STREAMS: tuple[Stream, ...] = get_args(Stream)
SCRATCH = "scratch"  # what a plain process has for its working directory and temporary files


def output_key(key: AttemptKey, stream: Stream) -> str:
    """Return where a stream of an attempt is kept in the blob store."""
    return f"output/{key.job_id}/{key.run.id}/{key.attempt}/{stream}"


def read_tail(directory: Path, stream: Stream, *, offset: int, limit: int, done: bool) -> Tail:
    """Return up to `limit` bytes from `offset`. `done` says that nothing is added any more."""
    try:
        with (directory / stream).open("rb") as file:
            file.seek(offset)
            data = file.read(limit)
    except FileNotFoundError:
        data = b""
    return Tail(data, offset + len(data), done and len(data) < limit)


def store_output(blobs: Blobs, key: AttemptKey, directory: Path) -> None:
    """Store both streams; an empty one is not stored. Raises Unavailable; repeating is harmless."""
    shutil.rmtree(directory / SCRATCH, ignore_errors=True)
    for stream in STREAMS:
        path = directory / stream
        if path.exists() and path.stat().st_size:
            blobs.put_file(output_key(key, stream), path)


def remove_output(directory: Path) -> None:
    """Remove the local files of an attempt whose result has been accepted."""
    shutil.rmtree(directory, ignore_errors=True)
