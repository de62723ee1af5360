"""`get jobs`, `get job`, `get runs` and `history`: what there is."""

from __future__ import annotations

import heapq
import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

from cyclopts import Parameter

from chronoshard.cli import manifest
from chronoshard.cli.output import Output, show, state_paint
from chronoshard.cli.parsing import parse_pairs, parse_time
from chronoshard.cli.session import connect, find_job, reader, runs_of
from chronoshard.cli.submit import summary
from chronoshard.cli.table import render
from chronoshard.cli.words import Reader, duration, epoch_ms, rfc3339
from chronoshard.client.transport import Json

DEFAULT_JOBS = 200
DEFAULT_RUNS = 20

Limit = Annotated[int, Parameter(name=["--limit", "-n"], help="at most so many")]
Many = Annotated[tuple[str, ...], Parameter(negative=())]


def jobs(
    *,
    status: str | None = None,
    tag: Many = (),
    name: str | None = None,
    limit: Limit = DEFAULT_JOBS,
    output: Output = "table",
) -> int:
    """List your jobs.

    Examples:
      chronoshard get jobs
      chronoshard get jobs --status disabled --tag team=billing
      chronoshard get jobs -o name | xargs -n 1 chronoshard pause

    Args:
        status: scheduled, disabled or finished
        tag: K=V that the job must have; repeatable
        name: exactly this one
    """
    tags = [f"{key}:{value}" for key, value in parse_pairs(tag, "--tag").items()]
    view = reader()
    with connect() as client:
        found = list(client.jobs.list(status=status, tags=tags, name=name, limit=limit))
    show(found, output, table=lambda: _jobs_table(found, view), names=_values(found, "job_id"))
    return 0


def job(word: Annotated[str, Parameter(name="JOB")], /, *, output: Output = "table") -> int:
    """Show one job; as YAML it is a manifest that `apply -f` takes.

    Examples:
      chronoshard get job backup
      chronoshard get job backup -o yaml > backup.yaml

    Args:
        word: the job's name or id
    """
    view = reader()
    with connect() as client:
        found = find_job(client, word).job
    data = manifest.from_job(found) if output == "yaml" else found
    show(data, output, table=lambda: summary(found, view), names=[str(found["job_id"])])
    return 0


def runs(
    *,
    job: str | None = None,
    state: str | None = None,
    from_: Annotated[str | None, Parameter(name="--from")] = None,
    to: str | None = None,
    limit: Limit = DEFAULT_RUNS,
    output: Output = "table",
) -> int:
    """List runs, newest first, of one job or of all.

    Examples:
      chronoshard get runs
      chronoshard get runs --job backup --state failed --from 2027-03-01T00:00Z

    Args:
        job: the job's name or id; all jobs without
        state: only runs in this state
        from_: not before this time (RFC 3339, or local)
        to: not after this time
    """
    view = reader()
    bounds = [_bound(text, option, view) for text, option in ((from_, "--from"), (to, "--to"))]
    with connect() as client:
        words = [job] if job else _values(client.jobs.list(limit=DEFAULT_JOBS), "job_id")
        if len(words) == DEFAULT_JOBS:
            print(f"looked at {DEFAULT_JOBS} jobs only: name one with --job", file=sys.stderr)
        lists = [runs_of(client, w, state=state, from_=bounds[0], to=bounds[1], limit=limit) for w in words]
        found = list(itertools.islice(_newest(lists), limit))
    show(found, output, table=lambda: runs_table(found, view), names=_values(found, "run_id"))
    return 0


def history(
    word: Annotated[str, Parameter(name="JOB")],
    /,
    *,
    state: str | None = None,
    limit: Limit = DEFAULT_RUNS,
    output: Output = "table",
) -> int:
    """List the runs of a job, newest first.

    Examples:
      chronoshard history backup
      chronoshard history backup --state failed -n 100 -o json

    Args:
        word: the job's name or id
        state: only runs in this state
    """
    view = reader()
    with connect() as client:
        found = list(runs_of(client, word, state=state, limit=limit))
    show(found, output, table=lambda: runs_table(found, view), names=_values(found, "run_id"))
    return 0


def runs_table(found: Sequence[Json], view: Reader) -> str:
    """Return the table of runs that every list of them is shown as."""
    header = ("RUN", "STATE", "NOMINAL", "TOOK", "TRIES", "EXIT", "ERROR")
    return render(header, [_run_row(run, view) for run in found], state_paint(1))


def _run_row(run: Json, view: Reader) -> tuple[object, ...]:
    attempts: list[Json] = run.get("attempts") or []
    last: Json = attempts[-1] if attempts else {}
    started, finished = last.get("started"), last.get("finished")
    took = duration(epoch_ms(finished) - epoch_ms(started)) if started and finished else None
    nominal = view.both_of(run.get("nominal_time"))
    tries = len(attempts) or None
    return (run["run_id"], run["state"], nominal, took, tries, last.get("exit_code"), last.get("error"))


def _jobs_table(found: Sequence[Json], view: Reader) -> str:
    rows = [
        (
            job["job_id"],
            job.get("name"),
            job.get("status"),
            schedule_words(job.get("trigger") or {}),
            job.get("priority"),
            next(iter(view.both_of(time) for time in job.get("next_runs") or ()), None),
        )
        for job in found
    ]
    return render(("JOB", "NAME", "STATUS", "WHEN", "PRIO", "NEXT"), rows, state_paint(2))


def schedule_words(trigger: Json) -> str:
    """Return a trigger in a few words, as it was given: `*/5 * * * * Europe/Berlin`, `every 5m`."""
    kind = str(trigger.get("kind"))
    if kind == "cron":
        zone = trigger.get("zone") or "UTC"
        return f"{trigger['schedule']}{'' if zone == 'UTC' else ' ' + str(zone)}"
    if kind == "interval":
        every = trigger["every"]
        return f"every {every}{'' if isinstance(every, str) else 's'}"
    if kind == "once":
        return f"at {trigger['at']}"
    return kind


def _newest(lists: Sequence[Iterable[Json]]) -> Iterator[Json]:
    return heapq.merge(*lists, key=lambda run: epoch_ms(run["nominal_time"]), reverse=True)


def _bound(text: str | None, option: str, view: Reader) -> str | None:
    return None if text is None else rfc3339(parse_time(text, option, now_ms=view.now_ms))


def _values(items: Iterable[Json], key: str) -> list[str]:
    return [str(item[key]) for item in items]
