"""Jobs: create, read, change, pause, delete; and their runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote

from chronoshard.client.pages import items_of
from chronoshard.client.transport import Json, Transport


class Versioned(NamedTuple):
    """A job and its ETag: what to give as `if_match` so that nobody's change in between is lost."""

    job: Json
    etag: str | None


class Jobs:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, body: Json, *, key: str | None = None) -> Json:
        """Create the job that `body` describes; with `validate_only` only say what it would be."""
        answer: Json = self._transport.write("POST", "jobs", body, key=key).json()
        return answer

    def create_batch(self, bodies: Sequence[Json], *, key: str | None = None) -> list[Json]:
        """Create up to 1,000 jobs, each all or nothing; return one `{status, job | problem}` for each."""
        answer = self._transport.write("POST", "jobs/batch", {"jobs": list(bodies)}, key=key).json()
        results: list[Json] = answer["results"]
        return results

    def list(
        self,
        *,
        status: str | None = None,
        tags: Sequence[str] = (),
        name: str | None = None,
        limit: int | None = None,
    ) -> Iterator[Json]:
        """Yield the owner's jobs. `tags` are `key:value` texts, all of which must be there."""
        query = {"status": status, "name": name, "tag": list(tags)}
        return items_of(self._transport, "jobs", query, limit=limit)

    def get(self, job_id: str) -> Versioned:
        answer = self._transport.get(f"jobs/{quote(job_id, safe='')}")
        return Versioned(answer.json(), answer.headers.get("etag"))

    def status(self, job_id: str) -> Json:
        """Return `{status, last_run, next_runs}`."""
        answer: Json = self._transport.get(f"jobs/{quote(job_id, safe='')}/status").json()
        return answer

    def change(self, job_id: str, body: Json, *, if_match: str | None = None, key: str | None = None) -> Json:
        """Change what `body` names; raise StaleVersion when the job is no longer the one of `if_match`."""
        path = f"jobs/{quote(job_id, safe='')}"
        answer: Json = self._transport.write("PATCH", path, body, if_match=if_match, key=key).json()
        return answer

    def set_status(self, job_id: str, status: str, *, reason: str | None = None, key: str | None = None) -> Json:
        """Pause (`disabled`) or resume (`scheduled`); return the job with what is `running`."""
        body = {"status": status, **({"reason": reason} if reason is not None else {})}
        path = f"jobs/{quote(job_id, safe='')}/status"
        answer: Json = self._transport.write("PUT", path, body, key=key).json()
        return answer

    def delete(self, job_id: str, *, if_match: str | None = None, key: str | None = None) -> Json:
        """Delete the job; return `{job_id, status, running}`. Its history stays."""
        path = f"jobs/{quote(job_id, safe='')}"
        answer: Json = self._transport.write("DELETE", path, if_match=if_match, key=key).json()
        return answer

    def run(self, job_id: str, *, params: Json | None = None, key: str | None = None) -> Json:
        """Run it now, with `params` over the job's own; return `{run_id}`."""
        path = f"jobs/{quote(job_id, safe='')}/runs"
        answer: Json = self._transport.write("POST", path, {"params": params} if params else {}, key=key).json()
        return answer

    def runs(
        self,
        job_id: str,
        *,
        state: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
    ) -> Iterator[Json]:
        """Yield the job's runs, newest first. `from_` and `to` are RFC 3339."""
        query = {"state": state, "from": from_, "to": to}
        return items_of(self._transport, f"jobs/{quote(job_id, safe='')}/runs", query, limit=limit)
