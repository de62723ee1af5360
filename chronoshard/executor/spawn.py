"""Forks a program for the supervisor: its limits, its streams, its place in the control groups.

Between fork and exec only what the child needs is done; what goes wrong there comes back as an OSError of the
parent. Standard library only: the supervisor imports it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
from typing import Any

from chronoshard.executor import process_tree
from chronoshard.executor.cgroups import Group

FILES_OF_A_TASK = 4096  # soft limit of open files that a task gets, whatever ours is
BACKSTOP = 1024  # processes that our user may have more than it has, where nothing counts an attempt's own
PDEATHSIG = 1  # prctl option: the signal a process gets when its parent dies
NO_NEW_PRIVILEGES = 38  # prctl option: no set-user-id program may take a task out of our reach

_libc = ctypes.CDLL(None, use_errno=True)


def spawn(order: dict[str, Any], group: Group | None) -> tuple[int, int, int, int]:
    """Fork and execute; return (pid, stdout, stderr, status), the last three to be read from."""
    opened: list[int] = []
    processes = _process_limit(order, group)

    def pipe() -> tuple[int, int]:
        ends = os.pipe2(os.O_CLOEXEC)
        opened.extend(ends)
        return ends

    try:
        out, err, status, failure = pipe(), pipe(), pipe(), pipe()
        stdin = os.memfd_create("params", os.MFD_CLOEXEC)  # its mode lets any user open /dev/stdin
        opened.append(stdin)
        os.write(stdin, order["stdin"].encode())
        os.lseek(stdin, 0, os.SEEK_SET)
        for end in (out[1], err[1]):
            with contextlib.suppress(PermissionError):
                os.fchown(end, order["uid"], -1)  # so that the task may open /dev/stdout
        pid = os.fork()
        if pid == 0:
            _become(order, group, (stdin, out[1], err[1]), status[1], failure[1], processes)
        for end in (stdin, out[1], err[1], status[1], failure[1]):
            os.close(end)
            opened.remove(end)
        reason = os.read(failure[0], 4096)
        os.close(failure[0])
        opened.remove(failure[0])
        if reason:
            os.waitpid(pid, 0)
            number, _, text = reason.decode(errors="replace").partition(" ")
            raise OSError(int(number), text)
        for end in (out[0], err[0], status[0]):
            os.set_blocking(end, False)
    except BaseException:
        for end in opened:
            os.close(end)
        raise
    return pid, out[0], err[0], status[0]


def _process_limit(order: dict[str, Any], group: Group | None) -> int | None:
    """Return the limit of processes per user, where no control group has one; None: it does not bind root.

    The sandbox of a root gives an attempt a user of its own, and that is exact. Otherwise the user is ours, whose
    other processes count: a backstop far above the attempt's limit, which is then held by measuring.
    """
    if group is not None and group.limits_pids:
        return None
    if order["uid"] >= 0:
        return int(order["pids"])
    return process_tree.threads_of(os.getuid()) + BACKSTOP + int(order["pids"]) if os.getuid() else None


def _become(
    order: dict[str, Any],
    group: Group | None,
    streams: tuple[int, int, int],
    status: int,
    failure: int,
    processes: int | None,
) -> None:
    """Turn the forked child into the program; never returns."""
    try:
        os.setsid()
        _libc.prctl(PDEATHSIG, signal.SIGKILL)
        if group:
            group.join()
        if not order["sandboxed"]:  # bubblewrap sees to it by itself
            _libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        _limit(order, processes)
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python; tasks must not
            signal.signal(ignored, signal.SIG_DFL)
        argv = [str(status) if part == "STATUS_FD" else part for part in order["argv"]]
        os.chdir(order["cwd"])
        for target, descriptor in enumerate(streams):
            os.dup2(descriptor, target)
        if order["sandboxed"]:
            os.set_inheritable(status, True)
        os.execve(argv[0], argv, order["env"])
    except BaseException as error:
        number = getattr(error, "errno", None) or 0
        os.write(failure, f"{number} {error}".encode())
    finally:
        os._exit(127)


def _limit(order: dict[str, Any], processes: int | None) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    settable: list[tuple[int, int]] = [(resource.RLIMIT_CORE, 0)]
    settable.append((resource.RLIMIT_NOFILE, FILES_OF_A_TASK if hard < 0 else min(hard, FILES_OF_A_TASK)))
    if order["file_bytes"]:
        settable.append((resource.RLIMIT_FSIZE, order["file_bytes"]))
    if processes is not None:
        settable.append((resource.RLIMIT_NPROC, processes))
    for kind, value in settable:
        resource.setrlimit(kind, (value, value))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("500")  # when the machine runs out of memory, tasks go before us
