"""`edit`, `pause`, `resume`, `delete`: changes to a job that exists."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from chronoshard.cli import manifest
from chronoshard.cli.applying import change, changes
from chronoshard.cli.definition import Definition, fields_of
from chronoshard.cli.failures import Exit
from chronoshard.cli.output import Output, as_yaml, show
from chronoshard.cli.session import connect, find_job, find_job_id, reader
from chronoshard.cli.submit import summary
from chronoshard.cli.table import pairs
from chronoshard.cli.triggers import edited_trigger
from chronoshard.client import Client
from chronoshard.client.jobs import Versioned
from chronoshard.client.transport import Json, new_key
from chronoshard.errors import InvalidInput

JobWord = Annotated[str, Parameter(name="JOB", help="the job's name or id")]
_NOT_SET = Definition()


def edit(word: JobWord, /, *, definition: Definition = _NOT_SET, output: Output = "table") -> int:
    """Change a job: what the options name and nothing else; without options in your editor.

    A change of the schedule holds from 5 seconds after the answer.

    Examples:
      chronoshard edit backup --cron "0 4 * * *" --retries 5
      chronoshard edit backup --zone America/New_York
      EDITOR=nano chronoshard edit backup
    """
    view = reader()
    patch = fields_of(definition)
    with connect() as client:
        found = find_job(client, word)
        trigger = edited_trigger(definition, found.job["trigger"], now_ms=view.now_ms)
        if trigger is not None:
            patch["trigger"] = trigger
        job = change(client, found, patch) if patch else _edit_by_hand(client, found)
    show(job, output, table=lambda: summary(job, view), names=[str(job["job_id"])])
    return Exit.OK


def pause(word: JobWord, /, *, reason: str | None = None, output: Output = "table") -> int:
    """Stop a job from running; what runs already goes on and is listed.

    Examples:
      chronoshard pause backup --reason "the disk is full"

    Args:
        reason: kept with the job and shown to whoever asks why
    """
    return _set_status(word, "disabled", reason, output)


def resume(word: JobWord, /, *, output: Output = "table") -> int:
    """Let a paused job run again, from 5 seconds after the answer.

    What came due meanwhile is recorded as skipped and not caught up.

    Examples:
      chronoshard resume backup
    """
    return _set_status(word, "scheduled", None, output)


def delete(word: JobWord, /, *, output: Output = "table") -> int:
    """Delete a job. Its history stays readable; what runs already goes on and is listed.

    Examples:
      chronoshard delete backup
    """
    with connect() as client:
        answer = client.jobs.delete(find_job_id(client, word), key=new_key())
    show(answer, output, table=lambda: _status_lines(answer), names=[str(answer["job_id"])])
    return Exit.OK


def _set_status(word: str, status: str, reason: str | None, output: Output) -> int:
    with connect() as client:
        job_id = find_job_id(client, word)
        answer = client.jobs.set_status(job_id, status, reason=reason, key=new_key())
    show(answer, output, table=lambda: _status_lines(answer), names=[job_id])
    return Exit.OK


def _status_lines(answer: Json) -> str:
    entries: list[tuple[str, object]] = [("job", answer["job_id"]), ("status", answer["status"])]
    if answer.get("running"):
        entries.append(("still running", list(answer["running"])))
    return pairs(entries)


def _edit_by_hand(client: Client, found: Versioned) -> Json:
    """Return the job after what its owner made of its manifest in an editor; unchanged where nothing was."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if editor is None or not sys.stdin.isatty():
        raise InvalidInput(
            "nothing to change was named, and there is no editor to ask with",
            code="usage.edit",
            hint="give options such as --cron, or set EDITOR and run this on a terminal",
        )
    before = as_yaml(manifest.from_job(found.job))
    with tempfile.TemporaryDirectory(prefix="chronoshard-") as scratch:
        path = Path(scratch) / "job.yaml"
        path.write_text(before, encoding="utf-8")
        if subprocess.run([*shlex.split(editor), str(path)], check=False).returncode != 0:
            raise InvalidInput("the editor gave up, nothing was changed", code="usage.edit")
        after = manifest.read(str(path), path.read_text(encoding="utf-8"), need_names=False)
    if len(after) != 1:
        raise InvalidInput("the file must hold one job", code="usage.edit")
    patch = changes(client, after[0], found.job)
    if after[0].name != found.job.get("name"):
        patch["name"] = after[0].name
    return change(client, found, patch) if patch else found.job
