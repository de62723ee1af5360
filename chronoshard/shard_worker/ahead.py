"""Makes the rows after the ones that are released, before those are published.

So a claimed row always has its successors, and the chain of a job never breaks, whoever dies (invariant 3).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from chronoshard.domain.ahead import plans_after
from chronoshard.domain.attempt import Plan, Row
from chronoshard.domain.catchup import LATE_MS, skip_until
from chronoshard.domain.identity import SCHEDULE
from chronoshard.domain.job import Entry, Head, Skipped
from chronoshard.domain.trigger import Cron, Interval
from chronoshard.planning import Planner
from chronoshard.ports import Store

REMEMBERED_JOBS = 100_000  # how far each was made; forgetting one only means writing its rows once more


class Ahead:
    def __init__(self, store: Store, planner: Planner) -> None:
        self._store = store
        self._planner = planner
        self._made_through: OrderedDict[tuple[str, int], int] = OrderedDict()

    def make(self, rows: Sequence[Row], heads: Mapping[str, Head], *, now_ms: int) -> None:
        """Make durable what has to be there after each of `rows`."""
        plans: list[Plan] = []
        jumps: list[Skipped] = []
        made: dict[tuple[str, int], int] = {}
        for row in sorted(rows, key=lambda row: row.key.nominal_ms):
            head = heads.get(row.key.job_id)
            if row.key.origin != SCHEDULE or row.key.attempt != 0 or head is None:
                continue
            entry = head.owner_of(row.key.nominal_ms)
            if entry is None or not isinstance(entry.trigger, Cron | Interval):
                continue
            memo = (head.job_id, entry.generation)
            through_ms = made.get(memo, self._made_through.get(memo, -1))
            fresh, jump = self._after(row, head, entry, through_ms, now_ms)
            plans += fresh
            jumps += jump
            made[memo] = max([through_ms, *(plan.key.nominal_ms for plan in fresh)])
        if jumps:
            self._store.jobs.skip(jumps)
        self._planner.insert(plans)
        self._remember(made)

    def _after(
        self, row: Row, head: Head, entry: Entry, through_ms: int, now_ms: int
    ) -> tuple[list[Plan], list[Skipped]]:
        nominal_ms = row.key.nominal_ms
        # What is made already reaches ahead of the row that is read: the jump begins after it, or it never would.
        jump = self._jump(head, entry, nominal_ms, max(nominal_ms, through_ms), now_ms)
        start_ms = nominal_ms if jump is None else jump.until_ms - 1
        plans = plans_after(head, nominal_ms=start_ms, ordinal=row.ordinal)
        return [plan for plan in plans if plan.key.nominal_ms > through_ms], [jump] if jump else []

    def _jump(self, head: Head, entry: Entry, nominal_ms: int, after_ms: int, now_ms: int) -> Skipped | None:
        """Return one record for all after `after_ms` that catch-up would skip one by one after a long absence."""
        trigger = entry.trigger
        assert isinstance(trigger, Cron | Interval)
        if now_ms - after_ms < LATE_MS or trigger.max_runs is not None:
            return None  # a trigger with max_runs counts its occurrences: none may be left out
        until_ms = skip_until(head.catchup, trigger, after_ms=after_ms, now_ms=now_ms, dst=head.dst)
        if until_ms is None:
            return None
        span_end_ms = min(
            (e.from_ms for e in head.timeline if e.from_ms > nominal_ms), default=until_ms
        )  # the next trigger's rows were made when it was appended
        if span_end_ms <= after_ms:
            return None
        return Skipped(
            job_id=head.job_id,
            from_ms=after_ms + 1,
            until_ms=min(until_ms, span_end_ms),
            reason=f"catchup.{head.catchup.mode}",
        )

    def _remember(self, made: Mapping[tuple[str, int], int]) -> None:
        for memo, through_ms in made.items():
            self._made_through[memo] = through_ms
            self._made_through.move_to_end(memo)
        while len(self._made_through) > REMEMBERED_JOBS:
            self._made_through.popitem(last=False)
