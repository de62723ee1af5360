"""Runs inside a new sandbox and tries to get out; prints what it managed to do, or SAFE.

A program of its own, standard library only: the sandbox's self-test runs it with a path that must stay hidden,
a port of the host on which somebody listens, and the pid of the executor.
"""

from __future__ import annotations

import os
import socket
import sys

SAFE = b"safe\n"
KNOWN = {"PROBE", "PWD", "LC_CTYPE"}  # what the test sets, and what bubblewrap and Python add


def faults(hidden: str, port: int, executor: int) -> list[str]:
    """Return every wall that is missing."""
    found = [f"could write to {path}" for path in ("/", "/usr", "/etc", "/dev", "/task") if _writable(path)]
    found += [f"could not write to {path}" for path in (".", "/tmp", "/dev/shm") if not _writable(path)]
    if os.listdir("."):
        found.append("the working directory is not empty")
    if os.path.exists(hidden):
        found.append("the executor's files are visible")
    if set(os.environ) - KNOWN:
        found.append("the host's environment is visible")
    if _visible(executor):
        found.append("processes of the host are visible")
    if not os.access("/etc/passwd", os.R_OK):
        found.append("/etc is not readable")
    if os.getuid() == 0:
        found.append("the task is root")
    with socket.socket() as client:
        client.settimeout(2.0)
        if client.connect_ex(("127.0.0.1", port)) == 0:
            found.append("the host's network is reachable")
    return found


def _writable(directory: str) -> bool:
    path = os.path.join(directory, "chronoshard-probe")
    try:
        with open(path, "wb"):
            pass
        os.unlink(path)
    except OSError:
        return False
    return True


def _visible(pid: int) -> bool:
    """Whether the executor's pid is visible; inside, low numbers are ours."""
    return pid > os.getpid() and os.path.exists(f"/proc/{pid}")


if __name__ == "__main__":
    problems = faults(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write("; ".join(problems) + "\n" if problems else SAFE.decode())
    sys.exit(len(problems))
