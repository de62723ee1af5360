"""Code that jobs run: checked, named by its content, stored once.

A task's id is the hash of its runtime and source, so that storing it again changes nothing, and what runs is what
was uploaded.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from chronoshard.api.context import Context
from chronoshard.api.requests import HttpBody, JobBody, JobPatch, TaskBody
from chronoshard.api.text import parse_time, rfc3339
from chronoshard.domain.job import HttpCall
from chronoshard.errors import InvalidInput, TooLarge

RUNTIMES = ("python", "javascript", "shell", "binary", "builtin")
_PREFIX = "sha256:"
_BUILTIN = re.compile(r"noop|sleep \d{1,9}(\.\d{1,6})?|fail (?!0+$)(1?\d?\d|2[0-4]\d|25[0-5])")


class Code(NamedTuple):
    """What a job runs. `content` is what has still to be stored, None when it is there."""

    runtime: str
    task_id: str = ""
    http: HttpCall | None = None
    content: bytes | None = None


class Stored(NamedTuple):
    """A task in the blob store; `size` is that of the source in bytes."""

    task_id: str
    runtime: str
    size: int
    created_at: str
    is_new: bool


def checked(context: Context, runtime: str, source: bytes, *, pointer: str) -> Code:
    """Return the code of an upload; raise TooLarge or InvalidInput with a pointer below `pointer`."""
    limit = context.settings.max_source
    if len(source) > limit:
        raise TooLarge(
            f"the source has {len(source):,} bytes, at most {limit:,} are taken",
            code="limit.source",
            pointer=f"{pointer}/source",
        )
    if runtime not in RUNTIMES:
        raise InvalidInput(
            f"there is no runtime {runtime[:40]!r}",
            code="task.runtime",
            pointer=f"{pointer}/runtime",
            hint=f"one of {', '.join(RUNTIMES)}",
        )
    if not source.strip():
        raise InvalidInput("the source is empty", code="task.empty", pointer=f"{pointer}/source")
    if runtime == "builtin" and _BUILTIN.fullmatch(source.decode(errors="replace").strip()) is None:
        raise InvalidInput(
            f"no builtin task {source[:40].decode(errors='replace')!r}",
            code="task.builtin",
            pointer=f"{pointer}/source",
            hint="noop, sleep SECONDS or fail CODE (1 to 255)",
        )
    content = runtime.encode() + b"\n" + source
    return Code(runtime, _PREFIX + hashlib.sha256(content).hexdigest(), content=content)


def store(context: Context, code: Code) -> Stored:
    """Make an upload durable; the same content again finds the first one."""
    assert code.content is not None
    blobs, key = context.blobs, _key(code.task_id)
    about = blobs.get(f"{key}.created") if blobs.size(key) is not None else None
    if about is None:
        created_at = rfc3339(context.clock.now_ms())
        blobs.put(f"{key}.created", created_at.encode())
        blobs.put(key, code.content)
    else:
        created_at = about.decode()
    context.memory.runtimes.put(code.task_id, code.runtime)
    size = len(code.content) - len(code.runtime) - 1
    return Stored(code.task_id, code.runtime, size, created_at, about is None)


def keep(context: Context, code: Code) -> None:
    """Make a job's code durable, if it came with the job and is not known to be."""
    if code.content is not None and context.memory.runtimes.get(code.task_id) is None:
        store(context, code)


def find(context: Context, task_id: str) -> Stored | None:
    """Return a stored task; None when there is none."""
    runtime = runtime_of(context, task_id) if re.fullmatch(f"{_PREFIX}[0-9a-f]{{64}}", task_id) else None
    if runtime is None:
        return None
    size = context.blobs.size(_key(task_id)) or 0
    created = context.blobs.get(f"{_key(task_id)}.created")
    created_at = created.decode() if created is not None else rfc3339(parse_time("1970-01-01T00:00:00Z"))
    return Stored(task_id, runtime, size - len(runtime) - 1, created_at, False)


def runtime_of(context: Context, task_id: str) -> str | None:
    """Return the runtime of a stored task; None when there is none of this id."""
    known = context.memory.runtimes.get(task_id)
    if known is None:
        head = context.blobs.read(_key(task_id), 0, 32)
        if head is None:
            return None
        known = head.partition(b"\n")[0].decode()
        context.memory.runtimes.put(task_id, known)
    return known


def code_of(context: Context, body: JobBody | JobPatch) -> Code:
    """Return what a job's body says to run; raise InvalidInput, TooLarge. Nothing is stored yet."""
    [field] = body.code_fields
    if field == "http":
        return Code("http", http=_http_call(body.http))
    if field == "task":
        task: TaskBody = body.task
        return checked(context, task.runtime, task.source.encode(), pointer="/task")
    runtime = runtime_of(context, body.task_id)
    if runtime is None:
        raise InvalidInput(
            f"there is no task {body.task_id}",
            code="task.unknown",
            pointer="/task_id",
            hint="upload it by POST /api/v1/tasks, or give `task` with its source",
        )
    return Code(runtime, body.task_id)


def _http_call(body: HttpBody) -> HttpCall:
    return HttpCall(url=body.url, method=body.method, headers=dict(body.headers), body=body.body)


def _key(task_id: str) -> str:
    return f"tasks/{task_id.removeprefix(_PREFIX)}"
