"""A run that somebody asks for: the request first, then its row, then the answer.

The request is found again under its key, so that the same one, however often it comes, leads to the same run.
"""

from __future__ import annotations

import secrets
from typing import Any

from chronoshard.api.context import Context
from chronoshard.api.definition import params_of
from chronoshard.domain.attempt import Plan
from chronoshard.domain.identity import AttemptKey, Run, origin_for
from chronoshard.domain.job import Head, Request
from chronoshard.domain.states import Cause
from chronoshard.failpoints import failpoint


def run_now(context: Context, head: Head, params: dict[str, Any], *, key: str | None) -> Run:
    """Have a job run at once, whatever its schedule and status say. `params` go over the job's own."""
    asked = Request(
        job_id=head.job_id,
        nominal_ms=context.clock.now_ms(),
        origin=origin_for(key) if key is not None else secrets.randbits(63) or 1,
        owner=head.owner,
        generation=head.generation,
        params=params_of(params, context.settings.max_params),
    )
    [first] = context.store.jobs.request([asked])
    failpoint("api.requested")
    plan_key = AttemptKey(first.nominal_ms, first.job_id, first.nominal_ms, first.origin, 0)
    context.planner.insert([Plan(plan_key, first.owner, Cause.REQUEST, first.generation)])
    return plan_key.run
