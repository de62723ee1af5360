"""An HTTP server in a thread: the one way in which parts come to a port."""

from __future__ import annotations

import socket
import threading

import uvicorn
from starlette.types import ASGIApp

from chronoshard.errors import Unavailable

IDLE_S = 90  # the clients of a link give a connection up first, so that no request meets one that closes
GRACE_S = 5  # for requests under way when the server stops


class Server:
    """An HTTP server in a thread of its own, on a port of its own choice or a given one."""

    def __init__(self, app: ASGIApp, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self._host = host
        self._port = port
        self._answering = threading.Event()
        self._server = _AnnouncedServer(
            uvicorn.Config(
                app,
                log_config=None,
                log_level="warning",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                ws="none",
                timeout_keep_alive=IDLE_S,
                timeout_graceful_shutdown=GRACE_S,
            ),
            self._answering,
        )
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where it can be reached from this machine, once it has started."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._host, self._host)
        return f"http://[{host}]:{self._port}" if ":" in host else f"http://{host}:{self._port}"

    def start(self) -> None:
        """Bind the port and answer; on return requests are taken. Raises Unavailable."""
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        try:
            listening = socket.create_server((self._host, self._port), family=family, backlog=2048)
        except (OSError, OverflowError) as error:
            raise Unavailable(
                f"cannot listen on {self._host} port {self._port}: {error}",
                code="server.port",
                hint="stop what listens there, or choose another host or port",
            ) from error
        # Inherited by every connection. asyncio sets it only where a socket names its protocol, which these do not,
        # and an answer that waits for the acknowledgement of its own header takes 40 ms.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._port = listening.getsockname()[1]
        self._thread = threading.Thread(
            target=self._server.run, args=([listening],), name=f"http {self._port}", daemon=True
        )
        self._thread.start()
        self._answering.wait()
        if not self._server.started:
            listening.close()
            raise Unavailable(f"the server for {self.url} did not start; its log says why", code="server.start")

    def stop(self) -> None:
        """Take no more requests, let those under way end for a moment, close the port."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(2 * GRACE_S)


class _AnnouncedServer(uvicorn.Server):
    """Says when it answers, or that it never will."""

    def __init__(self, config: uvicorn.Config, answering: threading.Event) -> None:
        super().__init__(config)
        self._answering = answering

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except SystemExit:  # how it says that the application did not start
            self.should_exit = True
        finally:
            self._answering.set()
