"""`apply` and `diff`: jobs as manifests say.

The server says what a manifest means (`validate_only`), so that `5m` and `300` are the same here as there. All
documents are checked before the first one changes anything.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from cyclopts import Parameter

from chronoshard.cli import manifest
from chronoshard.cli.failures import Exit
from chronoshard.cli.manifest import Manifest
from chronoshard.cli.output import Output, as_yaml, show, state_paint
from chronoshard.cli.session import connect
from chronoshard.cli.source import task_part
from chronoshard.cli.table import render
from chronoshard.client import Client
from chronoshard.client.jobs import Versioned
from chronoshard.client.transport import Json, new_key
from chronoshard.errors import InvalidInput

Files = Annotated[
    tuple[str, ...],
    Parameter(
        name=["--file", "-f"],
        negative=(),
        allow_leading_hyphen=True,
        help="a YAML file, - for standard input; repeatable",
    ),
]
_RUNS_WHAT = ("task_id", "http")
_MANUAL = {"kind": "manual"}


class Step(NamedTuple):
    """What one manifest asks for. `current` is None where the job does not exist; `patch` is empty where it
    is already so."""

    manifest: Manifest
    current: Versioned | None
    body: Json
    patch: Json

    @property
    def action(self) -> str:
        if self.current is None:
            return "created"
        return "changed" if self.patch else "unchanged"


def apply(
    *, file: Files, dry_run: Annotated[bool, Parameter(negative="")] = False, output: Output = "table"
) -> int:
    """Create the jobs in a manifest, or change those that exist until they are as it says.

    Jobs are found by name. What a manifest does not mention stays as it is. Every document is checked before
    anything is changed.

    Examples:
      chronoshard apply -f jobs.yaml
      chronoshard apply -f jobs.yaml --dry-run
      chronoshard get job backup -o yaml | chronoshard apply -f -

    Args:
        dry_run: say what would be done, and do nothing
    """
    with connect() as client:
        steps = plan(client, _read(file))
        done = [_outcome(step, step.current.job if step.current else {}) for step in steps]
        if not dry_run:
            done = [_outcome(step, _carry_out(client, step)) for step in steps]
    rows = [(entry["name"], entry["action"], ", ".join(entry["changed"]), entry["job_id"]) for entry in done]
    header = ("NAME", "WOULD BE" if dry_run else "ACTION", "FIELDS", "JOB")
    names = [str(entry["job_id"] or entry["name"]) for entry in done]
    show(done, output, table=lambda: render(header, rows, state_paint(1)), names=names)
    return Exit.OK


def diff(*, file: Files, output: Output = "table") -> int:
    """Show what `apply` would change. Exit 0 if nothing, 1 if anything.

    Examples:
      chronoshard diff -f jobs.yaml
    """
    with connect() as client:
        steps = plan(client, _read(file))
    differing = [step for step in steps if step.action != "unchanged"]
    data = [_outcome(step, step.current.job if step.current else {}) for step in differing]
    names = [str(step.manifest.name) for step in differing]
    show(data, output, table=lambda: "\n".join(_diff_lines(differing)), names=names)
    return Exit.FAILED if differing else Exit.OK


def plan(client: Client, manifests: Sequence[Manifest]) -> list[Step]:
    """Return what each manifest asks for; raise one error that lists all that is wrong with them."""
    steps, errors = [], []
    for entry in manifests:
        try:
            steps.append(_step(client, entry))
        except InvalidInput as error:
            errors.append(_located(error, entry))
    if errors:
        first = errors[0]
        first.fields = tuple(field for error in errors for field in error.fields)
        raise first
    return steps


def changes(client: Client, entry: Manifest, current: Json) -> Json:
    """Return the fields of `entry` that are not so in the job already, as the server understands them."""
    wanted = {key: value for key, value in _body(client, entry).items() if key != "name"}
    what = {} if any(key in wanted for key in ("task", *_RUNS_WHAT)) else _what_it_runs(current)
    asked = {"trigger": _MANUAL, **what, **wanted}
    if wanted.get("trigger") == current.get("trigger"):
        wanted.pop("trigger", None)
        asked["trigger"] = _MANUAL  # its time may have passed, which would be refused for a new job
    meant = client.jobs.create({**asked, "validate_only": True})
    return {key: value for key, value in wanted.items() if not _same(key, value, meant, current)}


def change(client: Client, found: Versioned, patch: Json) -> Json:
    """Change a job unless somebody else has since it was read."""
    return client.jobs.change(found.job["job_id"], patch, if_match=found.etag, key=new_key())


def _step(client: Client, entry: Manifest) -> Step:
    known = next(iter(client.jobs.list(name=entry.name, limit=1)), None)
    if known is None:
        body = _body(client, entry)
        client.jobs.create({**body, "validate_only": True})
        return Step(entry, None, body, {})
    current = client.jobs.get(str(known["job_id"]))
    return Step(entry, current, {}, changes(client, entry, current.job))


def _carry_out(client: Client, step: Step) -> Json:
    if step.current is None:
        return client.jobs.create(step.body, key=new_key())
    return change(client, step.current, step.patch) if step.patch else step.current.job


def _body(client: Client, entry: Manifest) -> Json:
    return entry.body if entry.code is None else {**entry.body, **task_part(client, entry.code)}


def _what_it_runs(job: Json) -> Json:
    return {key: job[key] for key in _RUNS_WHAT if job.get(key)}


def _same(key: str, value: object, meant: Json, current: Json) -> bool:
    if key in ("task", *_RUNS_WHAT):
        return _what_it_runs(meant) == _what_it_runs(current)
    if key in ("retries", "catchup", "dst") and isinstance(value, dict):
        return all((meant[key] or {}).get(name) == (current[key] or {}).get(name) for name in value)
    if key == "trigger" and isinstance(value, dict) and "start" not in value:
        return _without_start(meant.get(key)) == _without_start(current.get(key))
    return bool(meant.get(key) == current.get(key))


def _without_start(trigger: object) -> object:
    """Without the start that the server gave an interval: it says when the job was made, not what it is."""
    return {k: v for k, v in trigger.items() if k != "start"} if isinstance(trigger, dict) else trigger


def _located(error: InvalidInput, entry: Manifest) -> InvalidInput:
    """Return the error with the document in front of every pointer."""
    if not (error.pointer or "").startswith(entry.where):
        fields = error.fields or ((error.pointer or "", error.detail),)
        error.fields = tuple((f"{entry.where}{pointer}", reason) for pointer, reason in fields)
    else:
        error.fields = ((str(error.pointer), error.detail),)
    return error


def _outcome(step: Step, job: Json) -> Json:
    return {
        "name": step.manifest.name,
        "action": step.action,
        "changed": sorted(step.patch),
        "job_id": job.get("job_id"),
    }


def _diff_lines(steps: Sequence[Step]) -> list[str]:
    lines: list[str] = []
    for step in steps:
        before = manifest.from_job(step.current.job) if step.current else {}
        after = _changed(before, step.patch) if step.current else {"kind": manifest.KIND, **step.body}
        lines += difflib.unified_diff(
            as_yaml(before).splitlines() if before else [],
            as_yaml(after).splitlines(),
            f"{step.manifest.name} (server)",
            f"{step.manifest.name} ({step.manifest.where})",
            lineterm="",
        )
    return lines


def _changed(before: Json, patch: Json) -> Json:
    """Return a manifest with a patch in it; what it runs stays where it was, also by another field."""
    what = next((key for key in ("task", *_RUNS_WHAT) if key in patch), None)
    if what is None:
        return {**before, **patch}
    renamed = {what if key in _RUNS_WHAT else key: value for key, value in before.items()}
    return {**renamed, **patch}


def _read(files: Sequence[str]) -> list[Manifest]:
    found: list[Manifest] = []
    for name in files:
        try:
            text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = (getattr(error, "strerror", None) or "it is no text").lower()
            raise InvalidInput(f"cannot read {name!r}: {reason}", code="manifest.file", pointer="-f") from error
        found += manifest.read(name, text)
    if not found:
        raise InvalidInput("there is no job in it", code="manifest.empty", pointer="-f")
    return found
