"""Decides which claimed attempts may start, and says to the executor what to run.

The heads are read after the claim: from then on nothing of an older definition can start (invariant 7).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from chronoshard.domain.attempt import Plan
from chronoshard.domain.identity import SCHEDULE, AttemptKey
from chronoshard.domain.job import Head, Request, Spec
from chronoshard.domain.states import Cause, State
from chronoshard.domain.validity import Refusal, refusal
from chronoshard.link import StartOrder
from chronoshard.orchestrator.fleet import Place
from chronoshard.orchestrator.live import Started
from chronoshard.ports import Store

CACHED_SPECS = 20_000
MISSING = Refusal(State.SKIPPED, "row.missing")


class Limits(NamedTuple):
    """What every attempt may use: bytes kept of each stream, memory of its process tree."""

    output: int
    memory_mb: int


class Checked(NamedTuple):
    """The attempts that may start, in order, and those that may not."""

    start: list[tuple[Started, StartOrder]]
    refused: list[tuple[AttemptKey, Refusal]]


class Orders:
    def __init__(self, store: Store, limits: Limits) -> None:
        self._store = store
        self._limits = limits
        self._specs: OrderedDict[tuple[str, int], Spec] = OrderedDict()

    def check(self, keys: Sequence[AttemptKey], token: str, place: Place) -> Checked:
        """Read the heads of claimed attempts and sort them."""
        heads = self._store.jobs.heads({key.job_id for key in keys})
        plans = self._plans(keys, heads)
        requests = self._requests(keys)
        checked = Checked([], [])
        valid: list[tuple[Plan, Head]] = []
        for key in keys:
            head, plan = heads.get(key.job_id), plans.get(key)
            refused = refusal(head, key, generation=plan.generation if plan else None)
            if refused is not None or head is None or plan is None:
                checked.refused.append((key, refused or MISSING))
            else:
                valid.append((plan, head))
        specs = self._specs_of({(head.job_id, head.generation) for _, head in valid})
        for plan, head in valid:
            spec = specs[head.job_id, head.generation]
            started = Started(plan, token, place.incarnation, head, spec)
            order = self._order(started, requests.get(plan.key))
            checked.start.append((started, order))
        return checked

    def _plans(self, keys: Sequence[AttemptKey], heads: Mapping[str, Head]) -> dict[AttemptKey, Plan]:
        """A trigger's first attempts follow from the head; the plans of all others are read."""
        plans: dict[AttemptKey, Plan] = {}
        others: list[AttemptKey] = []
        for key in keys:
            head = heads.get(key.job_id)
            entry = head.owner_of(key.nominal_ms) if head is not None else None
            if key.origin != SCHEDULE or key.attempt != 0:
                others.append(key)
            elif head is not None and entry is not None:
                plans[key] = Plan(key, head.owner, Cause.SCHEDULE, entry.generation)
        if others:
            rows = self._store.timetable.rows(others)
            plans.update((row.key, row.plan) for row in rows if row is not None)
        return plans

    def _requests(self, keys: Sequence[AttemptKey]) -> dict[AttemptKey, Request]:
        asked = {key: key.run for key in keys if key.origin != SCHEDULE}
        if not asked:
            return {}
        requests = self._store.jobs.requests(set(asked.values()))
        return {key: requests[run] for key, run in asked.items() if run in requests}

    def _specs_of(self, wanted: Collection[tuple[str, int]]) -> dict[tuple[str, int], Spec]:
        """Specs never change, so they are kept."""
        found = {one: self._specs[one] for one in wanted if one in self._specs}
        if missing := [one for one in wanted if one not in found]:
            read = self._store.jobs.specs(missing)
            found.update(read)
            self._specs.update(read)
            while len(self._specs) > CACHED_SPECS:
                self._specs.popitem(last=False)
        return found

    def _order(self, started: Started, request: Request | None) -> StartOrder:
        plan, spec = started.plan, started.spec
        return StartOrder(
            key=plan.key,
            token=started.token,
            incarnation=started.incarnation.id,
            owner=plan.owner,
            runtime=spec.runtime,
            timeout_ms=spec.timeout_ms,
            task_id=spec.task_id,
            http=spec.http,
            params=_merged(spec.params, request),
            memory_mb=self._limits.memory_mb,
            output_limit=self._limits.output,
        )


def _merged(params: bytes, request: Request | None) -> bytes:
    """A request's params go over the job's."""
    if request is None or request.params == b"{}":
        return params
    merged: dict[str, Any] = msgspec.json.decode(params)
    merged.update(msgspec.json.decode(request.params))
    return msgspec.json.encode(merged)
