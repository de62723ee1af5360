"""`describe`: everything about one job on one page."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from chronoshard.cli.failures import Exit
from chronoshard.cli.output import Output, show
from chronoshard.cli.reading import runs_table, schedule_words
from chronoshard.cli.session import connect, find_job, reader
from chronoshard.cli.table import pairs
from chronoshard.cli.upcoming import of_job
from chronoshard.cli.words import Reader
from chronoshard.client.transport import Json

_LAST_RUNS = 5
_SHOWN_APART = {"job_id", "name", "status", "trigger", "next_runs", "running", "run_id"}


def describe(
    word: Annotated[str, Parameter(name="JOB", help="the job's name or id")], /, *, output: Output = "table"
) -> int:
    """Show all about a job: what it runs, when, its policies, its next and its last runs.

    Examples:
      chronoshard describe backup
    """
    view = reader()
    with connect() as client:
        job = find_job(client, word).job
        job_id = str(job["job_id"])
        status = client.jobs.status(job_id)
        runs = list(client.jobs.runs(job_id, limit=_LAST_RUNS))
    data = {**job, "status": status["status"], "next_runs": status.get("next_runs"), "last_runs": runs}
    show(data, output, table=lambda: _page(data, view), names=[job_id])
    return Exit.OK


def _page(data: Json, view: Reader) -> str:
    entries: list[tuple[str, object]] = [
        ("job", data["job_id"]),
        ("name", data.get("name")),
        ("status", data["status"]),
        ("when", schedule_words(data["trigger"])),
        ("in words", of_job(data, count=0, now_ms=view.now_ms)["description"]),
    ]
    for key, value in data.items():
        if key not in _SHOWN_APART and key != "last_runs" and value not in (None, {}, []):
            entries.append((key.replace("_", " "), _words(key, value, view)))
    entries.append(("next", [view.both_of(time) for time in data.get("next_runs") or ()]))
    page = pairs(entries)
    runs = data["last_runs"]
    return f"{page}\n\n{runs_table(runs, view)}" if runs else f"{page}\n\nno runs yet"


def _words(key: str, value: object, view: Reader) -> object:
    if isinstance(value, str) and key.endswith("_at"):
        return view.both_of(value)
    if isinstance(value, dict):
        return ", ".join(f"{name}={entry}" for name, entry in value.items())
    return value
