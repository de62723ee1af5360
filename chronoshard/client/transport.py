"""One request and its answer: token, time-outs, and the retries that are safe.

Every write carries an Idempotency-Key, so that a connection lost in the middle may be answered by sending the same
request again: the server does it once (invariant 1). The number of tries is bounded.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from chronoshard.client.problems import error_from
from chronoshard.errors import ChronoshardError, Conflict, InvalidInput, Unavailable

if TYPE_CHECKING:
    import httpx

BASE = "/api/v1"
CONNECT_TIMEOUT_S = 5.0
READ_TIMEOUT_S = 30.0
STREAM_SILENCE_S = 60.0  # a stream that has not even sent a comment for so long is taken for broken
RETRY_DELAYS_S = (0.1, 0.3, 0.9)  # a restarting server is back within this time more often than not
UNDER_WAY = "idempotency.under_way"  # our own first try still runs on the server
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}

Json = dict[str, Any]


class Answer(NamedTuple):
    """A success. Header names are lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        try:
            return json.loads(self.content)
        except ValueError as error:
            raise Unavailable(
                "what answers there is not chronoshard",
                code="server.foreign",
                hint="check CHRONOSHARD_URL",
            ) from error


def new_key() -> str:
    """Return an idempotency key that nobody has used."""
    return uuid.uuid4().hex


class Transport:
    """Connections to one server. `pause` waits a number of seconds between two tries."""

    def __init__(
        self,
        url: str,
        token: str | None,
        *,
        timeout_s: float = READ_TIMEOUT_S,
        pause: Callable[[float], object] | None = None,
    ) -> None:
        self.url, self._host = _checked(url)
        self._token = token
        self._timeout_s = timeout_s
        self.pause = threading.Event().wait if pause is None else pause
        self._http: httpx.Client | None = None

    def get(self, path: str, params: Mapping[str, object] | None = None) -> Answer:
        return self.send("GET", path, params=params)

    def write(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str | None = None,
        if_match: str | None = None,
        files: Mapping[str, Any] | None = None,
        form: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a write under `key`, a fresh one without."""
        headers = {"Idempotency-Key": key or new_key()}
        if if_match is not None:
            headers["If-Match"] = if_match
        content = None
        if files is None and body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        return self.send(method, path, headers=headers, content=content, files=files, form=form)

    def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        files: Mapping[str, Any] | None = None,
        form: Mapping[str, str] | None = None,
    ) -> Answer:
        """Return the answer, or raise the error that it stands for; Unavailable when there is none."""
        import httpx

        given = {name: _query(value) for name, value in (params or {}).items() if value is not None}
        for delay_s in (*RETRY_DELAYS_S, None):
            try:
                response = self._client().request(
                    method,
                    path if path.startswith("/") else f"{BASE}/{path}",
                    params=given,
                    headers=self._headers(headers),
                    content=content,
                    files=files,
                    data=form,
                )
                return _answer(response)
            except httpx.TransportError as error:
                if delay_s is None:
                    raise self.unreachable(error) from error
            except Conflict as error:
                if delay_s is None or error.code != UNDER_WAY:
                    raise
            self.pause(delay_s)
        raise AssertionError("the last try returns or raises")

    @contextmanager
    def stream(self, path: str, headers: Mapping[str, str]) -> Iterator[Iterator[str]]:
        """Yield the lines of an answer while they arrive. One try: its caller knows where to resume."""
        import httpx

        timeout = httpx.Timeout(STREAM_SILENCE_S, connect=CONNECT_TIMEOUT_S)
        try:
            with self._client().stream(
                "GET", f"{BASE}/{path}", headers=self._headers(headers), timeout=timeout
            ) as response:
                if response.status_code >= 400:
                    response.read()
                    _answer(response)
                yield response.iter_lines()
        except httpx.TransportError as error:
            raise self.unreachable(error) from error

    def unreachable(self, error: Exception) -> ChronoshardError:
        """Return the error for a server that gives no answer."""
        return Unavailable(
            f"no answer from {self.url}: {str(error) or type(error).__name__}",
            code="server.unreachable",
            hint="start a server with `chronoshard up`, or set CHRONOSHARD_URL to one that runs",
        )

    def close(self) -> None:
        if self._http is not None:
            self._http.close()
            self._http = None

    def _headers(self, more: Mapping[str, str] | None) -> dict[str, str]:
        authorization = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        return {"Accept": "application/json", **authorization, **(more or {})}

    def _client(self) -> httpx.Client:
        if self._http is None:
            import httpx

            self._http = httpx.Client(
                base_url=self.url,
                timeout=httpx.Timeout(self._timeout_s, connect=CONNECT_TIMEOUT_S),
                # A proxy meant for the world must not swallow what is meant for this machine.
                trust_env=self._host not in _LOOPBACK,
            )
        return self._http


def _query(value: object) -> str | list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else str(value)


def _checked(url: str) -> tuple[str, str]:
    """Return a server's URL without a slash at its end, and the host in it."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        raise InvalidInput(
            f"{url!r} is not the URL of a server",
            code="url.invalid",
            pointer="CHRONOSHARD_URL",
            hint="write it as http://127.0.0.1:8480",
        )
    return url.rstrip("/"), str(parts.hostname)


def _answer(response: httpx.Response) -> Answer:
    if response.status_code >= 400:
        raise error_from(response.status_code, response.content, response.headers.get("x-request-id"))
    return Answer(response.status_code, {k.lower(): v for k, v in response.headers.items()}, response.content)
