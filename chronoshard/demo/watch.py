"""Looks at the demo's runs through the api, tells what is new, and adds up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from chronoshard.client import Client

FINAL_STATES = frozenset({"succeeded", "failed", "timed_out", "lost", "cancelled", "skipped"})

Run = dict[str, Any]


class Verdict(NamedTuple):
    figures: dict[str, str]
    problems: list[str]


class Watch:
    def __init__(self, client: Client, say: Callable[[str], None]) -> None:
        self._client = client
        self._say = say
        self._jobs: dict[str, tuple[str, int]] = {}  # name, and how many runs are expected
        self._runs: dict[str, Run] = {}
        self._told: set[tuple[str, int, str]] = set()

    def add(self, job_id: str, name: str, expected: int) -> None:
        self._jobs[job_id] = (name, expected)

    def look(self) -> None:
        """Read every run that has not ended, and tell what happened to its attempts since the last look."""
        for job_id, (name, _) in self._jobs.items():
            for item in self._client.jobs.runs(job_id):
                known = self._runs.get(item["run_id"])
                if known is None or known["state"] not in FINAL_STATES:
                    run = self._client.runs.get(item["run_id"])
                    self._runs[run["run_id"]] = run
                    self._tell(name, run)

    def executor_of(self, run_id: str) -> str | None:
        """Return where a run's last attempt runs now."""
        run = self._runs.get(run_id)
        if run is None or run["state"] != "running":
            return None
        executor: str | None = run["attempts"][-1]["executor"]
        return executor

    def is_complete(self) -> bool:
        return all(len(self._ended(job_id)) >= expected for job_id, (_, expected) in self._jobs.items())

    def verdict(self) -> Verdict:
        """Return the figures of all runs, and what is not as it should be."""
        attempts = [attempt for run in self._runs.values() for attempt in run["attempts"]]
        causes = [attempt["cause"] for attempt in attempts]
        lateness = sorted(
            attempt["lateness_ms"]
            for attempt in attempts
            if attempt["lateness_ms"] is not None and attempt["cause"] in ("schedule", "request")
        )
        states = [run["state"] for run in self._runs.values()]
        expected = sum(count for _, count in self._jobs.values())
        missing = expected - sum(state in FINAL_STATES for state in states)
        figures = {
            "runs": f"{len(states)} of {expected}, {states.count('succeeded')} succeeded",
            "retries": str(causes.count("retry")),
            "requeues": str(causes.count("infrastructure")),
            "lateness p50, p99": f"{_quantile(lateness, 0.5)} ms, {_quantile(lateness, 0.99)} ms",
            "lost": str(states.count("lost") + max(0, missing)),
            "duplicates": str(max(0, len(states) - expected)),
        }
        return Verdict(figures, self._problems(causes, lateness, missing))

    def _problems(self, causes: list[str], lateness: list[int], missing: int) -> list[str]:
        problems = [
            f"{self._jobs[run['job_id']][0]} ended {run['state']}: {run['run_id']}"
            for run in self._runs.values()
            if run["state"] != "succeeded"
        ]
        if missing:
            problems.append(f"{missing} runs did not end" if missing > 0 else f"{-missing} runs too many")
        if any(late < 0 for late in lateness):
            problems.append("a run started before it was due")
        if "retry" not in causes:
            problems.append("nothing was retried")
        if "infrastructure" not in causes:
            problems.append("nothing was requeued after the kill")
        return problems

    def _ended(self, job_id: str) -> list[Run]:
        return [r for r in self._runs.values() if r["job_id"] == job_id and r["state"] in FINAL_STATES]

    def _tell(self, name: str, run: Run) -> None:
        for attempt in run["attempts"]:
            event = (run["run_id"], attempt["attempt"], attempt["state"])
            if event in self._told:
                continue
            self._told.add(event)
            self._say(f"  {name} attempt {attempt['attempt']} ({attempt['cause']}): {_words(attempt)}")


def _words(attempt: dict[str, Any]) -> str:
    state = attempt["state"].lower()
    where = f" on {attempt['executor']}" if attempt["executor"] else ""
    late = f", {attempt['lateness_ms']} ms after it was due" if attempt["lateness_ms"] is not None else ""
    if state == "running":
        return f"started{where}{late}"
    code = f", exit code {attempt['exit_code']}" if attempt["exit_code"] else ""
    error = f", {attempt['error']}" if attempt["error"] else ""
    return f"{state}{where}{code}{error}"


def _quantile(values: list[int], share: float) -> int | str:
    return values[min(len(values) - 1, int(len(values) * share))] if values else "-"
