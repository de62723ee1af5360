"""What HTTP adds to the link: tokens, versions, and what is certain when there is no good answer."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from link_fixtures import LIFE, TOKEN, Door, SmallExecutor, SmallOrchestrator

from chronoshard.domain.identity import AttemptKey
from chronoshard.errors import InvalidInput, LinkRefused, LinkTimeout, Unavailable
from chronoshard.link import ReserveRequest, StartOrder
from chronoshard.link_http import (
    HttpExecutorLink,
    HttpOrchestratorLink,
    Server,
    serve_executor,
    serve_orchestrator,
)
from chronoshard.link_http.serving import MAX_BODY

DEADLINE_S = 30.0
KEY = AttemptKey(1, "j" * 32, 1, 0, 0)
ORDER = StartOrder(key=KEY, token="t", incarnation=LIFE, owner="ann", runtime="shell", timeout_ms=1)
RESERVE = {"request": {"orchestrator": "o1", "incarnation": LIFE, "slots": 1}}


@pytest.fixture
def there() -> SmallExecutor:
    return SmallExecutor()


@pytest.fixture
def server(there: SmallExecutor, door: Door) -> Server:
    door.app = serve_executor(there, TOKEN)
    return door.server


@contextmanager
def answering(answer: Callable[[socket.socket], object]) -> Iterator[str]:
    """Yield the URL of a server that does with each of its connections what `answer` says."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                answer(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
    thread.join(DEADLINE_S)
    assert not thread.is_alive()


def silence(connection: socket.socket) -> None:
    """Take what comes until the other side gives up."""
    while connection.recv(65_536):
        pass


def saying(status: int, body: bytes) -> Callable[[socket.socket], object]:
    def answer(connection: socket.socket) -> None:
        connection.recv(65_536)
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode() + body)

    return answer


def post(server: Server, path: str, body: Any, token: str = TOKEN) -> httpx.Response:
    return httpx.post(
        f"{server.url}/link/{path}", json=body, headers={"Authorization": f"Bearer {token}"}, trust_env=False
    )


@pytest.mark.parametrize("token", ["another", TOKEN + "x", TOKEN[:-1]])
def test_without_the_token_nothing_is_asked(server: Server, there: SmallExecutor, token: str) -> None:
    link = HttpExecutorLink(server.url, token)

    with pytest.raises(LinkRefused) as caught:
        link.start("r", [ORDER])
    assert ("auth.token", 0) == (caught.value.code, there.asked)


def test_a_request_without_any_token_is_refused(server: Server, there: SmallExecutor) -> None:
    response = httpx.post(f"{server.url}/link/v1/executor/reserve", json=RESERVE, trust_env=False)

    assert (401, "auth.token", 0) == (response.status_code, response.json()["code"], there.asked)


@pytest.mark.parametrize("token", ["", " a", "a ", "a\n", "ü", "a\0b"])
def test_there_is_no_link_without_a_proper_token(token: str) -> None:
    with pytest.raises(InvalidInput):
        serve_executor(SmallExecutor(), token)
    with pytest.raises(InvalidInput):
        serve_orchestrator(SmallOrchestrator(), token)
    for link in (HttpExecutorLink, HttpOrchestratorLink):
        with pytest.raises(InvalidInput):
            link("http://127.0.0.1:1", token)


@pytest.mark.parametrize(
    "path", ["v2/executor/reserve", "v1/orchestrator/beat", "v1/executor/stop", "v1/executor/_ask"]
)
def test_what_this_version_does_not_know_is_refused(server: Server, there: SmallExecutor, path: str) -> None:
    response = post(server, path, RESERVE)

    assert (404, "not_found", 0) == (response.status_code, response.json()["code"], there.asked)


@pytest.mark.parametrize(
    ("method", "body", "pointer"),
    [
        ("reserve", {**RESERVE, "wait": True}, "/wait"),
        ("reserve", {"request": {**RESERVE["request"], "tier": 1}}, "/request/tier"),
        ("ping", {"a/b~c": 1}, "/a~1b~0c"),
        ("start", {"reservation": "r", "orders": [{"gpu": 1}]}, "/orders/1/gpu"),
        (
            "start",
            {"reservation": "r", "orders": [{"http": {"url": "u", "follow": True}}]},
            "/orders/1/http/follow",
        ),
    ],
)
def test_a_field_that_is_not_known_is_refused(
    server: Server, there: SmallExecutor, method: str, body: dict[str, Any], pointer: str
) -> None:
    """A newer version may mean something by it that must not be passed over in silence."""
    order = {"key": [1, "j", 1, 0, 0], "token": "t", "incarnation": LIFE, "owner": "o", "runtime": "r"}
    order["timeout_ms"] = 1
    if "orders" in body:
        body = {**body, "orders": [order, {**order, **body["orders"][0]}]}
    response = post(server, f"v1/executor/{method}", body)

    assert (422, "link.unknown_field") == (response.status_code, response.json()["code"])
    assert (pointer, 0) == (response.json()["pointer"], there.asked)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'{"request": 1}', b"{}", b"[" * 100_000, b'{"request": "\xff"}']
)
def test_what_cannot_be_read_is_refused(server: Server, there: SmallExecutor, body: bytes) -> None:
    response = httpx.post(
        f"{server.url}/link/v1/executor/reserve",
        content=body,
        headers={"Authorization": f"Bearer {TOKEN}"},
        trust_env=False,
    )

    assert (422, "link.arguments", 0) == (response.status_code, response.json()["code"], there.asked)


def test_a_body_beyond_the_limit_is_refused(server: Server, there: SmallExecutor) -> None:
    link = HttpExecutorLink(server.url, TOKEN)
    with pytest.raises((LinkRefused, LinkTimeout)):
        link.kill(LIFE, [], "x" * MAX_BODY)

    assert 0 == there.asked
    assert 4 == link.ping().free


def test_where_nothing_listens_nothing_was_done() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    for call in (lambda link: link.ping(), lambda link: link.start("r", [ORDER])):
        with pytest.raises(LinkRefused, match="nothing was sent"):
            call(HttpExecutorLink(f"http://127.0.0.1:{port}", TOKEN))


def test_a_connection_broken_after_the_request_leaves_everything_open() -> None:
    with answering(lambda connection: connection.recv(65_536)) as url, pytest.raises(LinkTimeout):
        HttpExecutorLink(url, TOKEN).start("r", [ORDER])


def test_no_answer_in_time_leaves_everything_open() -> None:
    with answering(silence) as url, pytest.raises(LinkTimeout, match="no answer"):
        HttpExecutorLink(url, TOKEN).ping()


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b""),
        (200, b"<html>"),
        (200, b'{"accepted": true}'),
        (200, b"[]"),
        (200, b'[{"accepted": true}, {"accepted": true}]'),
        (200, b'[{"accepted": 1}]'),
        (204, b""),
        (302, b"{}"),
        (404, b"not found"),
        (503, b"{}"),
        (500, b'{"code": "internal", "detail": "broken"}'),
        (503, b'{"code": "unavailable", "detail": "the store is away"}'),
    ],
)
def test_an_answer_that_does_not_say_yes_or_no_leaves_everything_open(status: int, body: bytes) -> None:
    """Whoever stands between may answer anything; only our own no is a no."""
    with answering(saying(status, body)) as url, pytest.raises(LinkTimeout):
        HttpExecutorLink(url, TOKEN).start("r", [ORDER])


@pytest.mark.parametrize("error", [RuntimeError("a defect"), KeyError("a defect"), InvalidInput("a defect")])
def test_a_link_that_fails_in_the_middle_leaves_everything_open(
    server: Server, there: SmallExecutor, error: Exception
) -> None:
    there.error = error

    with pytest.raises(LinkTimeout, match="a defect"):
        HttpExecutorLink(server.url, TOKEN).start("r", [ORDER])


def test_an_executor_whose_stores_are_away_may_have_started_something(
    server: Server, there: SmallExecutor
) -> None:
    there.error = Unavailable("the blob store is away")

    with pytest.raises(LinkTimeout, match="the blob store is away"):
        HttpExecutorLink(server.url, TOKEN).start("r", [ORDER])


@pytest.mark.parametrize("url", ["", "127.0.0.1:80", "local://e1", "file:///etc/passwd"])
def test_what_is_no_address_is_refused(url: str) -> None:
    for link in (HttpExecutorLink, HttpOrchestratorLink):
        with pytest.raises(InvalidInput):
            link(url, TOKEN)


def test_a_link_survives_the_restart_of_its_server(there: SmallExecutor) -> None:
    first = Server(serve_executor(there, TOKEN))
    first.start()
    link = HttpExecutorLink(first.url, TOKEN)
    link.ping()
    first.stop()
    with pytest.raises(LinkRefused):
        link.ping()

    second = Server(serve_executor(there, TOKEN), port=int(first.url.rpartition(":")[2]))
    second.start()
    assert 4 == link.ping().free
    second.stop()


def test_proxies_for_the_world_are_not_asked(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert 4 == HttpExecutorLink(server.url, TOKEN).ping().free


def test_answers_are_not_held_back_for_an_acknowledgement(server: Server) -> None:
    """Without TCP_NODELAY on the server's side every call takes 40 ms."""
    link = HttpExecutorLink(server.url, TOKEN)
    link.ping()

    port = int(server.url.rpartition(":")[2])
    assert {"listening": {True}, "connected": {True}} == _no_delay_of(port)


def _no_delay_of(port: int) -> dict[str, set[bool]]:
    """Return how TCP_NODELAY is set on this process's sockets at a port of its own."""
    found: dict[str, set[bool]] = {}
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if not os.readlink(entry).startswith("socket:"):
                continue
        with suppress(OSError), socket.socket(fileno=os.dup(int(entry.name))) as one:
            if one.family == socket.AF_INET and one.getsockname()[1] == port:
                listens = one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
                no_delay = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                found.setdefault("listening" if listens else "connected", set()).add(bool(no_delay))
    return found


def test_a_port_that_is_taken_is_said_to_be(server: Server) -> None:
    port = int(server.url.rpartition(":")[2])

    with pytest.raises(Unavailable, match=f"port {port}") as caught:
        Server(serve_orchestrator(SmallOrchestrator(), TOKEN), port=port).start()
    assert "server.port" == caught.value.code


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70_000), ("no such host", 0), ("192.0.2.1", 0)])
def test_where_one_cannot_listen_is_said_to_be_so(host: str, port: int) -> None:
    with pytest.raises(Unavailable):
        Server(serve_orchestrator(SmallOrchestrator(), TOKEN), host=host, port=port).start()


@pytest.mark.filterwarnings("error")  # of a thread that ends by an exception
def test_an_application_that_does_not_start_is_noticed() -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "a defect"})

    with pytest.raises(Unavailable, match="did not start"):
        Server(broken).start()


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", "http://127.0.0.1:1"), ("0.0.0.0", "http://127.0.0.1:1"), ("::", "http://[::1]:1")],
)
def test_the_url_is_one_that_can_be_reached(host: str, expected: str) -> None:
    assert expected == Server(serve_executor(SmallExecutor(), TOKEN), host=host, port=1).url


def test_requests_under_way_are_answered_while_the_server_stops(there: SmallExecutor) -> None:
    came, go_on = threading.Event(), threading.Event()

    class Slow(SmallExecutor):
        def renew(self, reservation: str) -> bool:
            came.set()
            return go_on.wait(DEADLINE_S)

    server = Server(serve_executor(Slow(), TOKEN))
    server.start()
    with ThreadPoolExecutor() as pool:
        renewed = pool.submit(HttpExecutorLink(server.url, TOKEN).renew, "r")
        assert came.wait(DEADLINE_S)
        stopped = pool.submit(server.stop)
        go_on.set()

        assert renewed.result(DEADLINE_S) is True
        stopped.result(DEADLINE_S)
    with pytest.raises(LinkRefused):
        HttpExecutorLink(server.url, TOKEN).reserve(ReserveRequest("o1", LIFE, 1))
