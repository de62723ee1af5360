"""Jobs as YAML: what `get job -o yaml` writes and `apply -f` reads.

    kind: job
    name: backup
    file: backup.sh            # or task: {runtime, source}, task_id, http: {url, ...}
    trigger: {kind: cron, schedule: "0 3 * * *", zone: Europe/Berlin}

Writing and reading are each other's inverse: a manifest of a job, applied, changes nothing.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

from chronoshard.cli.source import Code, read_code
from chronoshard.client.transport import Json
from chronoshard.errors import InvalidInput

KIND = "job"
_WHAT = ("task", "task_id", "http", "file")
DEFINING = (
    "trigger",
    "params",
    "priority",
    "retries",
    "timeout",
    "catchup",
    "overlap",
    "dst",
    "tags",
)


class Manifest(NamedTuple):
    """One document. `body` is what the server is to be told; `code` is still to be uploaded if it is no text."""

    name: str | None
    where: str  # file and number of the document, for messages
    body: Json
    code: Code | None


def from_job(job: Json) -> Json:
    """Return the manifest of a job as the server answers it: what defines it, not what became of it."""
    what = next((key for key in ("http", "task", "task_id") if job.get(key)), None)
    document: Json = {"kind": KIND, "name": job.get("name")}
    if what is not None:
        document[what] = job[what]
    document.update({key: job[key] for key in DEFINING if job.get(key) is not None})
    return document


def read(path: str, text: str, *, need_names: bool = True) -> list[Manifest]:
    """Return the manifests in a text; files that they name are looked for beside `path`.

    Without a name nobody knows which job is meant: only an edit of one that was already found needs none.
    """
    import yaml

    try:
        documents = list(yaml.safe_load_all(text))
    except yaml.YAMLError as error:
        raise InvalidInput(
            f"{path} is not YAML: {' '.join(str(error).split())}", code="manifest.yaml", pointer=path
        ) from error
    base = Path() if path == "-" else Path(path).parent
    found = [
        _manifest(document, f"{path}#{number}", base, need_names)
        for number, document in enumerate(documents, 1)
        if document is not None
    ]
    _refuse_twins(found)
    return found


def _manifest(document: object, where: str, base: Path, need_name: bool) -> Manifest:
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise InvalidInput(
            f"the document is no job: it needs `kind: {KIND}`", code="manifest.kind", pointer=f"{where}/kind"
        )
    body = {str(key): value for key, value in document.items() if key != "kind"}
    name = body.get("name")
    if (name is not None and not isinstance(name, str)) or (need_name and not name):
        raise InvalidInput(
            "a job in a manifest needs a name",
            code="manifest.name",
            pointer=f"{where}/name",
            hint="add a line `name: ...`: it says which job is meant when the manifest is applied again",
        )
    given = [key for key in _WHAT if key in body]
    if len(given) > 1:
        raise InvalidInput(
            f"{' and '.join(given)} exclude each other", code="manifest.task", pointer=f"{where}/{given[1]}"
        )
    code = None
    if "file" in body:
        code = read_code(base / str(body.pop("file")), runtime=body.pop("runtime", None), option=f"{where}/file")
    return Manifest(name, where, _plain(body, where), code)


def _plain(value: Json, where: str) -> Json:
    """Return the body as JSON has it: YAML's own dates become RFC 3339 texts."""
    return {key: _plain_value(entry, f"{where}/{key}") for key, entry in value.items()}


def _plain_value(value: object, where: str) -> object:
    if isinstance(value, dict):
        return {str(key): _plain_value(entry, f"{where}/{key}") for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain_value(entry, f"{where}/{index}") for index, entry in enumerate(value)]
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    isoformat = getattr(value, "isoformat", None)
    if isoformat is None:
        raise InvalidInput(f"{value!r} cannot be written as JSON", code="manifest.value", pointer=where)
    return str(isoformat())


def _refuse_twins(found: list[Manifest]) -> None:
    seen: dict[str, Manifest] = {}
    for entry in found:
        if entry.name is not None and entry.name in seen:
            raise InvalidInput(
                f"{entry.name!r} is there twice: also in {seen[entry.name].where}",
                code="manifest.twice",
                pointer=f"{entry.where}/name",
            )
        seen[str(entry.name)] = entry
