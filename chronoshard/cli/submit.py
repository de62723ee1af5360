"""`submit`: from a file or a URL to a job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from chronoshard.cli.definition import Definition, fields_of
from chronoshard.cli.output import Output, show
from chronoshard.cli.parsing import parse_pairs
from chronoshard.cli.session import connect, reader
from chronoshard.cli.source import is_url, read_code, task_part
from chronoshard.cli.table import pairs
from chronoshard.cli.triggers import new_trigger
from chronoshard.cli.words import Reader
from chronoshard.client import Client
from chronoshard.client.transport import Json, new_key
from chronoshard.errors import InvalidInput

Runtime = Literal["python", "javascript", "shell", "binary", "builtin"]
_NOT_SET = Definition()


def submit(
    source: str,
    /,
    *,
    definition: Definition = _NOT_SET,
    runtime: Runtime | None = None,
    method: str | None = None,
    header: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    body: str | None = None,
    idempotency_key: str | None = None,
    output: Output = "table",
) -> int:
    """Make a job of a script, a program or a URL, and say when it runs.

    Examples:
      chronoshard submit backup.sh --name backup --cron "0 3 * * *" --zone Europe/Berlin
      chronoshard submit report.py --every 1h30m --param limit=10 --retries 3
      chronoshard submit clean.js --at +10m
      chronoshard submit ./program --at 2027-03-01T09:00 --zone Europe/Berlin
      chronoshard submit https://example.com/hook --method POST --body '{"a": 1}' --now

    Args:
        source: a .py, .js or .sh file, an executable, or an http(s) URL
        runtime: what runs it, where the file's ending does not say
        method: of a URL's request
        header: K=V sent with a URL's request; repeatable
        body: of a URL's request
        idempotency_key: the same key makes the same job, however often it is sent
    """
    view = reader()
    wanted = {"trigger": new_trigger(definition, now_ms=view.now_ms), **fields_of(definition)}
    http = {"method": method, "headers": parse_pairs(header, "--header") or None, "body": body}
    key = idempotency_key or new_key()
    with connect() as client:
        wanted = {**_what(client, source, runtime, http, key), **wanted}
        job = client.jobs.create(wanted, key=key)
    show(job, output, table=lambda: summary(job, view), names=[str(job["job_id"])])
    return 0


def summary(job: Json, view: Reader) -> str:
    """Return the lines about a job that was just made or changed."""
    entries: list[tuple[str, object]] = [("job", job["job_id"])]
    if job.get("name"):
        entries.append(("name", job["name"]))
    if job.get("run_id"):
        entries.append(("run", job["run_id"]))
    if job.get("next_runs"):
        entries.append(("next", [view.both_of(time) for time in job["next_runs"]]))
    return pairs(entries)


def _what(client: Client, source: str, runtime: Runtime | None, http: Json, key: str) -> Json:
    given = {name: value for name, value in http.items() if value is not None}
    if is_url(source):
        return {"http": {"url": source, **given}}
    if given:
        raise InvalidInput(
            f"{source!r} is no URL, so that there is no request to make",
            code="usage.http",
            pointer=f"--{next(iter(given)).removesuffix('s')}",
            hint="SOURCE must begin with http:// or https:// for that",
        )
    if runtime == "builtin":
        return {"task": {"runtime": runtime, "source": source}}
    return task_part(client, read_code(Path(source), runtime=runtime), key=key)
