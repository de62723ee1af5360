"""The program behind runtime `http`: makes one request, prints status and body, succeeds on 2xx and 3xx.

Runs as a task in the sandbox, standard library only. The request comes as JSON on standard input: `url`,
`method`, `headers`, `body`, `timeout_s`. Redirects are answers, not followed.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
from typing import IO, Any
from urllib.parse import urlsplit

CHUNK_BYTES = 65_536
FAILED, UNREACHABLE, UNUSABLE = 1, 2, 3  # exit codes: a bad status, no answer, no request could be made


def call(order: dict[str, Any], out: IO[bytes], err: IO[bytes]) -> int:
    """Make the request and return the exit code. The body goes to `out`, all else to `err`."""
    kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
    try:
        url = urlsplit(order["url"])
        connection = kinds[url.scheme](url.hostname or "", url.port, timeout=order["timeout_s"])
    except (KeyError, ValueError, http.client.InvalidURL):
        err.write(f"cannot call {order['url']!r}: not an http or https address\n".encode())
        return UNUSABLE
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    try:
        connection.request(order["method"], path, order["body"].encode() or None, _headers(order))
        response = connection.getresponse()
        err.write(f"HTTP {response.status} {response.reason}\n".encode())
        err.flush()
        while chunk := response.read1(CHUNK_BYTES):
            out.write(chunk)
        out.flush()
    except (OSError, http.client.HTTPException, ValueError) as error:
        err.write(f"no answer from {url.netloc}: {error or type(error).__name__}\n".encode())
        return UNREACHABLE
    finally:
        connection.close()
    return 0 if 200 <= response.status < 400 else FAILED


def _headers(order: dict[str, Any]) -> dict[str, str]:
    """Return the headers, with the run's identity so that the receiver can drop a repeated call."""
    run, attempt = (os.environ.get(f"CHRONOSHARD_{name}", "") for name in ("RUN_ID", "ATTEMPT"))
    return {"User-Agent": "chronoshard", "Idempotency-Key": run, "X-Attempt": attempt, **order["headers"]}


if __name__ == "__main__":
    sys.exit(call(json.load(sys.stdin), sys.stdout.buffer, sys.stderr.buffer))
