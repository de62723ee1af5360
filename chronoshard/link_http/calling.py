"""The link's clients: an executor or an orchestrator in another process.

What an error says matters most (invariant 4): LinkRefused only when the other side has certainly done nothing, so
everything doubtful is a LinkTimeout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec

from chronoshard.domain.identity import AttemptKey
from chronoshard.domain.liveness import RESEND_S
from chronoshard.errors import ChronoshardError, InvalidInput, LinkRefused, LinkTimeout, Unavailable
from chronoshard.link import (
    Beat,
    BeatAnswer,
    Fence,
    Grant,
    Pong,
    ReserveRequest,
    Result,
    StartAnswer,
    StartOrder,
    Stream,
    Tail,
)
from chronoshard.link_http.server import IDLE_S
from chronoshard.link_http.wire import EXECUTOR, ORCHESTRATOR, UNREADABLE, VERSION, Method, Problem, authorization

# Of one phase of a request each: connecting, sending it, waiting for the answer.
CONNECT_TIMEOUT_S = 1.0
QUICK_TIMEOUT_S = 2.0  # reserve, renew, release, fence, kill, ping: answered from memory
START_TIMEOUT_S = 5.0
TAIL_TIMEOUT_S = 5.0
BEAT_TIMEOUT_S = 3.0
RESULTS_TIMEOUT_S = 10.0  # results may wait for company, and for the store

MAX_CONNECTIONS = 32  # of one client to one server
IDLE_CONNECTION_S = 60.0  # longer than the time between two beats

assert BEAT_TIMEOUT_S <= RESEND_S
assert IDLE_CONNECTION_S < IDLE_S


class HttpExecutorLink:
    """An executor in another process. For any number of threads."""

    def __init__(self, url: str, token: str) -> None:
        self._caller = _Caller(url, token, "executor", EXECUTOR)

    def reserve(self, request: ReserveRequest) -> Grant:
        grant: Grant = self._caller.call("reserve", QUICK_TIMEOUT_S, request=request)
        return grant

    def renew(self, reservation: str) -> bool:
        held: bool = self._caller.call("renew", QUICK_TIMEOUT_S, reservation=reservation)
        return held

    def release(self, reservation: str) -> None:
        self._caller.call("release", QUICK_TIMEOUT_S, reservation=reservation)

    def start(self, reservation: str, orders: Sequence[StartOrder]) -> list[StartAnswer]:
        answers: list[StartAnswer] = self._caller.call(
            "start", START_TIMEOUT_S, reservation=reservation, orders=orders
        )
        return _one_for_each(orders, answers)

    def fence(self, incarnation: str, keys: Sequence[AttemptKey]) -> list[Fence]:
        fences: list[Fence] = self._caller.call("fence", QUICK_TIMEOUT_S, incarnation=incarnation, keys=keys)
        return _one_for_each(keys, fences)

    def kill(self, incarnation: str, keys: Sequence[AttemptKey], reason: str) -> None:
        self._caller.call("kill", QUICK_TIMEOUT_S, incarnation=incarnation, keys=keys, reason=reason)

    def tail(self, key: AttemptKey, stream: Stream, offset: int, limit: int) -> Tail | None:
        tail: Tail | None = self._caller.call(
            "tail", TAIL_TIMEOUT_S, key=key, stream=stream, offset=offset, limit=limit
        )
        return tail

    def ping(self) -> Pong:
        pong: Pong = self._caller.call("ping", QUICK_TIMEOUT_S)
        return pong

    def close(self) -> None:
        self._caller.close()


class HttpOrchestratorLink:
    """An orchestrator in another process. For any number of threads."""

    def __init__(self, url: str, token: str) -> None:
        self._caller = _Caller(url, token, "orchestrator", ORCHESTRATOR, may_be_unavailable=True)

    def beat(self, beat: Beat) -> BeatAnswer:
        answer: BeatAnswer = self._caller.call("beat", BEAT_TIMEOUT_S, beat=beat)
        return answer

    def results(self, executor: str, batch: Sequence[Result]) -> list[bool]:
        accepted: list[bool] = self._caller.call("results", RESULTS_TIMEOUT_S, executor=executor, batch=batch)
        return _one_for_each(batch, accepted)

    def close(self) -> None:
        self._caller.close()


class _Caller:
    """Sends one call and turns whatever comes back, or does not, into an answer or the right error."""

    def __init__(
        self, url: str, token: str, part: str, methods: Mapping[str, Method], *, may_be_unavailable: bool = False
    ) -> None:
        if urlsplit(url).scheme not in {"http", "https"}:
            raise InvalidInput(f"no address of another process: {url!r}", code="link.url")
        self._url = f"{url.rstrip('/')}/link/{VERSION}/{part}"
        self._methods = methods
        self._may_be_unavailable = may_be_unavailable
        self._http = httpx.Client(
            headers={"Authorization": authorization(token), "Content-Type": "application/json"},
            limits=httpx.Limits(max_connections=MAX_CONNECTIONS, keepalive_expiry=IDLE_CONNECTION_S),
            trust_env=False,  # a proxy for the world has no part in this
        )

    def call(self, name: str, timeout_s: float, /, **arguments: object) -> Any:
        """Return the decoded answer."""
        where = f"{self._url}/{name}"
        try:
            response = self._http.post(
                where,
                content=msgspec.json.encode(arguments),
                timeout=httpx.Timeout(timeout_s, connect=CONNECT_TIMEOUT_S),
            )
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise LinkRefused(f"nothing was sent to {where}: {_words(error)}") from error
        except httpx.TransportError as error:
            raise LinkTimeout(f"no answer from {where}: {_words(error)}") from error
        if response.status_code != 200:
            raise self._error(where, response)
        try:
            return msgspec.json.decode(response.content, type=self._methods[name].answer)
        except UNREADABLE as error:
            raise LinkTimeout(f"an answer that cannot be read from {where}: {error}") from error

    def close(self) -> None:
        self._http.close()

    def _error(self, where: str, response: httpx.Response) -> ChronoshardError:
        try:
            problem = msgspec.json.decode(response.content, type=Problem)
        except UNREADABLE:
            return LinkTimeout(f"{where} answered {response.status_code}, and not in our words")
        detail = f"{where}: {problem.detail}"
        if 400 <= response.status_code < 500:
            return LinkRefused(detail, code=problem.code, pointer=problem.pointer, hint=problem.hint)
        if response.status_code == 503 and self._may_be_unavailable:
            return Unavailable(detail, code=problem.code, hint=problem.hint)
        return LinkTimeout(detail, code=problem.code, hint=problem.hint)


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


def _one_for_each(asked: Sequence[object], answers: list[Any]) -> list[Any]:
    if len(answers) != len(asked):
        raise LinkTimeout(f"{len(answers)} answers came for {len(asked)}: what they mean is unknown")
    return answers
