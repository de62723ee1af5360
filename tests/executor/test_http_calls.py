"""Runtime `http`: one request, made from a real sandbox to a real server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from chronoshard.domain.attempt import Output
from chronoshard.domain.job import HttpCall
from tests.executor.bench import Bench


class Answers(BaseHTTPRequestHandler):
    """Answers /STATUS with that status, and with what it was asked."""

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        names = ("X-Team", "Idempotency-Key", "User-Agent")
        headers = " ".join(f"{name}={self.headers.get(name)}" for name in names)
        text = f"{self.command} {self.path} {headers} [{body}]".encode()
        self.send_response(int(self.path[1:4]))
        if self.path[1] == "3":
            self.send_header("Location", "/200")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_DELETE = answer  # noqa: N815 - the names that the standard library calls

    def log_message(self, format: str, *args: object) -> None:
        """Be silent."""


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def running(bench: Bench) -> Bench:
    return bench.start()


def test_a_call_sends_what_it_is_told_and_prints_the_answer(running: Bench, url: str) -> None:
    order = running.begin("http", http=HttpCall(f"{url}/201?a=1", "POST", {"X-Team": "blue"}, "hällo"))

    result = running.result(order)

    run = order.key.run.id
    expected = f"POST /201?a=1 X-Team=blue Idempotency-Key={run} User-Agent=chronoshard [hällo]"
    assert ("SUCCEEDED", 0) == (result.state, result.exit_code)
    assert expected == running.printed(result).decode()
    assert b"HTTP 201 Created\n" == running.printed(result, "stderr")


def test_a_redirect_is_an_answer_and_not_followed(running: Bench, url: str) -> None:
    result = running.call(f"{url}/302")

    assert "SUCCEEDED" == result.state
    assert b"HTTP 302 Found\n" == running.printed(result, "stderr")


@pytest.mark.parametrize("status", [404, 503])
def test_an_error_of_the_server_is_a_failure(running: Bench, url: str, status: int) -> None:
    result = running.call(f"{url}/{status}", method="DELETE")

    assert ("FAILED", 1) == (result.state, result.exit_code)
    assert f"HTTP {status} " in running.printed(result, "stderr").decode()


def test_a_server_that_is_not_there_is_named(running: Bench, url: str) -> None:
    result = running.call("http://127.0.0.1:1/")

    assert ("FAILED", 2) == (result.state, result.exit_code)
    assert running.printed(result, "stderr").startswith(b"no answer from 127.0.0.1:1: ")


@pytest.mark.parametrize("address", ["ftp://example.org/", "http://example.org:99999/", "no address"])
def test_what_is_no_web_address_cannot_be_called(running: Bench, address: str) -> None:
    result = running.call(address)

    assert ("FAILED", 3) == (result.state, result.exit_code)


def test_the_answer_is_cut_at_the_limit_of_output(running: Bench, url: str) -> None:
    call = HttpCall(f"{url}/200", "POST", {}, "x" * 5_000)

    result = running.run("http", http=call, output_limit=1_000)

    assert ("SUCCEEDED", True) == (result.state, result.output is not None and result.output.stdout_truncated)
    assert Output(1_000, 12, True, False) == result.output
