"""Many jobs in one request: each is checked and made, or refused, by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec
from pydantic import ValidationError

from chronoshard.api import problems
from chronoshard.api.context import Context
from chronoshard.api.create import Draft, Origin, check_name, create_many, draft
from chronoshard.api.documents import Document, job_document
from chronoshard.api.requests import JobBody
from chronoshard.errors import ChronoshardError, TooLarge, TooMany, Unavailable

Result = dict[str, Any]


def create_batch(context: Context, owner: str, bodies: Sequence[Any], *, key: str | None) -> list[Result]:
    """Return for each body the job that it made, or why it made none. Raises TooLarge, Unavailable."""
    most = context.settings.max_batch
    if len(bodies) > most:
        raise TooLarge(f"a batch has at most {most:,} jobs, this one {len(bodies):,}", code="limit.batch")
    results: list[Result | None] = []
    drafts: list[Draft] = []
    for number, given in enumerate(bodies):
        drafted = _drafted(context, given, _origin(owner, key, number, given))
        if isinstance(drafted, Draft):
            drafts.append(drafted)
            results.append(None)
        else:
            results.append(drafted)
    made = iter(create_many(context, drafts) if drafts else [])
    now_ms = context.clock.now_ms()
    return [result if result is not None else _made(next(made), now_ms) for result in results]


def _drafted(context: Context, given: Any, origin: Origin) -> Draft | Result:
    try:
        body = JobBody.model_validate(given)
        one = draft(context, body, origin)
        if not body.validate_only:
            return one
        check_name(context, origin.owner, one.head.name)
        return {"status": 200, "job": _planned(job_document(one.head, one.spec, now_ms=context.clock.now_ms()))}
    except ValidationError as error:
        return _refused(problems.invalid(error))
    except (Unavailable, TooMany):
        raise
    except ChronoshardError as error:
        return _refused(problems.problem_of(error))


def _origin(owner: str, key: str | None, number: int, given: Any) -> Origin:
    if key is None:
        return Origin(owner)
    return Origin(owner, f"{key}/{number}", hashlib.sha256(msgspec.json.encode(given)).hexdigest())


def _made(job: Any, now_ms: int) -> Result:
    if isinstance(job, ChronoshardError):
        return _refused(problems.problem_of(job))
    return {"status": 201, "job": job_document(*job, now_ms=now_ms)}


def _refused(problem: problems.Problem) -> Result:
    return {"status": problem["status"], "problem": problem}


def _planned(document: Document) -> Document:
    return {name: value for name, value in document.items() if name not in ("job_id", "run_id")}
