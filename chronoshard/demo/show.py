"""Submits, watches, kills, and adds up. Exit 0 only if everything was as it should be."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from chronoshard import logs
from chronoshard.client import Client
from chronoshard.compose import Embedded
from chronoshard.demo import scripts
from chronoshard.demo.second import SecondExecutor
from chronoshard.demo.watch import Watch
from chronoshard.errors import ChronoshardError
from chronoshard.settings import Settings

DEADLINE_S = 50.0  # for everything together: the demo ends by itself in under a minute
POLL_S = 0.2
CRON_RUNS = 3


class Show:
    def __init__(self, data: Path, failpoints: str) -> None:
        self._began_s = time.monotonic()
        self._missed: list[str] = []
        self._data = data
        self._embedded = Embedded(data, Settings(executor_slots=2))
        self._embedded.start()
        self._client = Client(self._embedded.url, self._embedded.token)
        self._watch = Watch(self._client, self.say)
        self._second = SecondExecutor("e2", data, slots=16, failpoints=failpoints)

    def run(self) -> int:
        """Play it; return the exit code."""
        self.say(f"one process with all six parts at {self._embedded.url}, data in {self._data}")
        if not self._wait(lambda: len(self._executors()) == 2, "both executors to beat"):
            return 1
        runtimes = self._tell_executors()
        long_run = self._submit_all(runtimes)
        if self._wait(lambda: self._watch.executor_of(long_run) == "e2", "e2 to start the long run"):
            self.say("*** kill -9 of executor e2, in the middle of the long run ***")
            self._second.kill()
        self._wait(self._watch.is_complete, "every run to end")
        return self._summary()

    def stop(self) -> None:
        self._second.stop()
        self._client.close()
        self._embedded.stop()

    def say(self, text: str) -> None:
        print(f"{time.monotonic() - self._began_s:6.2f} s  {text}", flush=True)

    def _executors(self) -> list[dict[str, Any]]:
        return [node for node in self._client.admin.nodes() if node["part"] == "executor"]

    def _tell_executors(self) -> set[str]:
        runtimes: set[str] = set()
        for node in self._executors():
            runtimes.update(node["runtimes"])
            self.say(f"executor {node['name']}: sandbox {node['sandbox']}, runs {', '.join(node['runtimes'])}")
        return runtimes

    def _submit_all(self, runtimes: set[str]) -> str:
        """Hand over one job of each kind; return the id of the long run."""
        soon = datetime.now(UTC) + timedelta(seconds=3)
        cron = {"kind": "cron", "schedule": "*/5 * * * * *", "max_runs": CRON_RUNS}
        now = {"kind": "now"}
        self._submit("every-5-s", "shell", scripts.HELLO_SH, cron, expected=CRON_RUNS)
        once = {"kind": "once", "at": soon.isoformat()}
        params = {"title": "nightly report", "rows": 1000}
        self._submit("report", "python", scripts.REPORT_PY, once, params=params)
        if "javascript" in runtimes:
            self._submit("greeting", "javascript", scripts.GREET_JS, now)
        else:
            self.say("no JavaScript runtime here, left out: pip install 'chronoshard[javascript]'")
        self._submit("flaky", "shell", scripts.FLAKY_SH, now, retries={"max": 3, "delay": "1s"})
        on_demand = self._submit("on-demand", "shell", scripts.HELLO_SH, {"kind": "manual"})
        self._client.jobs.run(on_demand["job_id"])
        self.say("asked for a run of on-demand: run now")
        return str(self._submit("long", "shell", scripts.LONG_SH, now)["run_id"])

    def _submit(
        self, name: str, runtime: str, source: str, trigger: dict[str, Any], *, expected: int = 1, **more: Any
    ) -> dict[str, Any]:
        body = {"name": name, "task": {"runtime": runtime, "source": source}, "trigger": trigger, **more}
        job = self._client.jobs.create(body)
        words = trigger.get("schedule") or trigger.get("at") or ""
        self.say(f"submitted {name}: {runtime}, {trigger['kind']} {words}")
        self._watch.add(job["job_id"], name, expected)
        return job

    def _wait(self, done: Callable[[], bool], what: str) -> bool:
        while not done():
            if time.monotonic() - self._began_s > DEADLINE_S:
                self.say(f"gave up waiting for {what}")
                self._missed.append(f"waited in vain for {what}")
                return False
            self._watch.look()
            time.sleep(POLL_S)
        return True

    def _summary(self) -> int:
        verdict = self._watch.verdict()
        ledger = self._client.admin.verify()
        print()
        for name, value in verdict.figures.items():
            print(f"  {name:<22} {value}")
        print(f"  {'ledger':<22} {len(ledger['problems'])} problems")
        print(f"  {'output and database':<22} {self._data}")
        problems = [*self._missed, *verdict.problems, *(str(problem) for problem in ledger["problems"])]
        for problem in problems:
            print(f"  NOT AS IT SHOULD BE: {problem}")
        print("  everything as it should be" if not problems else f"  {len(problems)} problems")
        return 1 if problems else 0


def main() -> int:
    """Run the demo; `CHRONOSHARD_DEMO_FAILPOINTS` arms the second executor, to see the demo fail."""
    os.environ.setdefault("CHRONOSHARD_LOG", "error,console")
    logs.configure()
    data = Path(tempfile.mkdtemp(prefix="chronoshard-demo-"))
    show = Show(data, os.environ.get("CHRONOSHARD_DEMO_FAILPOINTS", ""))
    try:
        return show.run()
    except ChronoshardError as error:
        show.say(f"error[{error.code}]: {error.detail}")
        return 1
    finally:
        show.stop()
