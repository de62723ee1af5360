"""A real HTTP server that answers as a test tells it and remembers what it was asked; a way to run commands."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import threading
import time
from collections import defaultdict, deque
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest

from chronoshard.cli.__main__ import main

DEADLINE_S = 60.0


class Seen(NamedTuple):
    """A request as it arrived; header names in lower case."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    content: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.content)


class Reply(NamedTuple):
    """What to answer; `drop` closes the connection in the middle, after the content."""

    status: int
    content: bytes
    headers: dict[str, str]
    drop: bool = False


class Result(NamedTuple):
    code: int
    out: str
    err: str


class RestServer:
    """Answers by method and path. Several answers to one request are given in turn, the last one for ever."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self._arrived = threading.Condition()
        self._replies: dict[tuple[str, str], deque[Reply]] = defaultdict(deque)
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def answer(self, method: str, path: str, body: object = None, status: int = 200, **headers: str) -> None:
        """Answer `path` (below /api/v1 unless it begins with /) with JSON."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        content = json.dumps({} if body is None else body).encode()
        self.reply(method, path, Reply(status, content, {"Content-Type": "application/json", **named}))

    def reply(self, method: str, path: str, reply: Reply) -> None:
        self._replies[method, path if path.startswith("/") else f"/api/v1/{path}"].append(reply)

    def replace(self, method: str, path: str, body: object, status: int = 200) -> None:
        """Answer so from now on, whatever was to be answered before."""
        self._replies[method, path if path.startswith("/") else f"/api/v1/{path}"].clear()
        self.answer(method, path, body, status)

    def refuse(self, method: str, path: str, status: int, code: str, detail: str, **more: object) -> None:
        body = {"type": "about:blank", "title": "Refused", "status": status, "detail": detail, "code": code}
        self.answer(method, path, {**body, "request_id": "req-1", **more}, status)

    def asked(self, method: str, path: str) -> list[Seen]:
        full = path if path.startswith("/") else f"/api/v1/{path}"
        return [seen for seen in self.seen if (seen.method, seen.path) == (method, full)]

    def wait_for(self, method: str, path: str) -> None:
        """Wait until it has been asked for this."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: self.asked(method, path), timeout=DEADLINE_S)

    def reply_to(self, seen: Seen) -> Reply:
        with self._arrived:
            self.seen.append(seen)
            self._arrived.notify_all()
        replies = self._replies.get((seen.method, seen.path))
        if not replies:
            problem = {"detail": f"{seen.method} {seen.path} is not there", "code": "not_found"}
            return Reply(404, json.dumps(problem).encode(), {"Content-Type": "application/problem+json"})
        return replies.popleft() if len(replies) > 1 else replies[0]

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def _handler(server: RestServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """One request, one answer, one connection."""

        def handle_one_request(self) -> None:
            super().handle_one_request()
            self.close_connection = True

        def _serve(self) -> None:
            url = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            content = self.rfile.read(int(headers.get("content-length", 0)))
            reply = server.reply_to(Seen(self.command, url.path, parse_qs(url.query), headers, content))
            if reply.status == 0:
                return
            self.send_response_only(reply.status)
            length = len(reply.content) + (1000 if reply.drop else 0)
            always = {"Date": formatdate(usegmt=True), "Content-Length": str(length)}
            for name, value in {**always, **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - the names that http.server calls

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: the tests look at what was recorded."""

    return Handler


NO_ANSWER = Reply(0, b"", {})


class Shell:
    """Runs commands with an environment and a directory of their own, as a user of the server would."""

    def __init__(self, url: str, home: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith("CHRONOSHARD_")},
            "HOME": str(home),
            "CHRONOSHARD_URL": url,
            "CHRONOSHARD_TOKEN": "secret",
            "TZ": "Europe/Berlin",
            "COLUMNS": "200",
        }
        self.directory = home
        self._capture = capture

    def command(self, *words: str) -> list[str]:
        """Return the words for a process of its own."""
        return [sys.executable, "-m", "chronoshard.cli", *words]

    def run(self, *words: str, stdin: str = "", env: dict[str, str] | None = None) -> Result:
        """Run a command in this process: what it prints and the exit code are those of the program."""
        with pytest.MonkeyPatch.context() as patch, contextlib.chdir(self.directory):
            for name in set(os.environ) - set(self.env):
                patch.delenv(name)
            for name, value in {**self.env, **(env or {})}.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdin", io.StringIO(stdin))
            time.tzset()
            self._capture.readouterr()
            code = main(words)
        time.tzset()
        sys.stderr.flush()
        return Result(code, *self._capture.readouterr())

    def __call__(self, *words: str, code: int = 0, stdin: str = "") -> str:
        """Run and return what it printed; fail unless it exits with `code`."""
        result = self.run(*words, stdin=stdin)
        assert code == result.code, result
        return result.out
