"""The whole REST surface as methods, one for each request.

Answers are the server's JSON as it is, with the contract's names; failures are the errors of chronoshard.errors.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from chronoshard.client.admin import Admin
from chronoshard.client.jobs import Jobs
from chronoshard.client.runs import Runs
from chronoshard.client.tasks import Tasks
from chronoshard.client.transport import READ_TIMEOUT_S, Json, Transport


class Client:
    """A server as seen by the owner of `token`. Close it, or use it as a context manager.

    >>> with Client("http://127.0.0.1:8480", "token") as client:
    ...     job = client.jobs.create({"task": {"runtime": "shell", "source": "date"}, "trigger": {"kind": "now"}})
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_s: float = READ_TIMEOUT_S,
        pause: Callable[[float], object] | None = None,
    ) -> None:
        self.transport = Transport(url, token, timeout_s=timeout_s, pause=pause)
        self.url = self.transport.url
        self.tasks = Tasks(self.transport)
        self.jobs = Jobs(self.transport)
        self.runs = Runs(self.transport)
        self.admin = Admin(self.transport)

    def preview(self, trigger: Json, *, dst: Json | None = None, count: int = 5) -> Json:
        """Return `{description, times}` of a trigger that no job has yet."""
        body = {"trigger": trigger, "count": count, **({"dst": dst} if dst else {})}
        answer: Json = self.transport.write("POST", "schedules/preview", body).json()
        return answer

    def whoami(self) -> Json:
        answer: Json = self.transport.get("whoami").json()
        return answer

    def version(self) -> Json:
        """Return the server's version; needs no token."""
        answer: Json = self.transport.get("/version").json()
        return answer

    def close(self) -> None:
        self.transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
