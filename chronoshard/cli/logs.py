"""`logs`: what a run printed, as it printed it: stdout to stdout, stderr to stderr."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from chronoshard.cli.failures import Exit
from chronoshard.cli.session import connect
from chronoshard.client import Client

Stream = Literal["stdout", "stderr"]


def logs(
    run_id: Annotated[str, Parameter(name="RUN", help="the run's id")],
    /,
    *,
    follow: Annotated[bool, Parameter(name=["--follow", "-f"], negative="")] = False,
    attempt: int | None = None,
    stream: Stream | None = None,
) -> int:
    """Print what a run printed.

    Examples:
      chronoshard logs RUN
      chronoshard logs RUN --follow
      chronoshard logs RUN --attempt 0 --stream stderr > errors.txt

    Args:
        follow: go on until the run has ended
        attempt: of this attempt, counted from 0; of the last one without
        stream: only this one
    """
    with connect() as client:
        if follow and attempt is None:
            follow_output(client, run_id, stream)
        else:
            print_output(client, run_id, attempt, stream)
    return Exit.OK


def print_output(client: Client, run_id: str, attempt: int | None, stream: Stream | None) -> None:
    """Print what is there, byte for byte, and say so where the server kept less than there was."""
    wanted: tuple[Stream, ...] = (stream,) if stream else ("stdout", "stderr")
    for name in wanted:
        output = client.runs.output(run_id, attempt=attempt, stream=name)
        target = sys.stderr if name == "stderr" and stream is None else sys.stdout
        target.buffer.write(output.content)
        target.flush()
        if output.truncated:
            print(f"{name} was cut: the task printed more than is kept", file=sys.stderr)


def follow_output(client: Client, run_id: str, stream: Stream | None = None) -> None:
    """Print what comes until the run has ended."""
    for chunk in client.runs.follow(run_id):
        if stream is not None and chunk.stream != stream:
            continue
        target = sys.stderr if chunk.stream == "stderr" and stream is None else sys.stdout
        target.write(chunk.text)
        target.flush()
