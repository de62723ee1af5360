"""The walls around a task: bubblewrap where it works, otherwise a plain process with limits.

Whether it works is not guessed: at start the very command that tasks will get runs a probe (sandbox_probe.py)
which tries to break out. A task sees a read-only system, a private /tmp of limited size, its own user, its own
processes, and a network only when it is allowed one.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import structlog

from chronoshard.errors import Unavailable
from chronoshard.executor import sandbox_probe

FIRST_UID = 0x7000_0000  # far from people, services and containers
LANES = 4096  # users of one executor, one per attempt that runs; two executors of a machine share none
USER_OF_A_NAMESPACE = 1000  # without root there is one user, and it is ours under another number
TASK = "/task"  # where the code lies
HOME = "/tmp/work"  # the working directory, empty
TEMPORARY = "/tmp"
OWN_PROCESSES = 4  # the sandbox's own, on top of a task's limit
PROBE_S = 20.0

# What a program needs to resolve names, trust certificates and know its clock. No passwords, no keys.
ETC = (
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "pki",
    "protocols",
    "resolv.conf",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
)

log = structlog.get_logger(__name__)


class Sandbox(msgspec.Struct, frozen=True, kw_only=True):
    """How tasks are walled in here, and why not better. `readable` are host paths that tasks may read."""

    kind: Literal["bubblewrap", "plain"]
    reason: str = ""
    program: str = ""
    setpriv: str = ""  # set when we are root: gives each attempt a user of its own
    readable: tuple[str, ...] = ()
    temporary_bytes: int = 0
    users: Path = Path()
    first_uid: int = 0

    @property
    def sandboxed(self) -> bool:
        return self.kind == "bubblewrap"

    @property
    def own_processes(self) -> int:
        return OWN_PROCESSES if self.sandboxed else 0

    def uid(self, lane: int) -> int:
        """Return the user that the attempt in this lane has outside the sandbox; -1: our own."""
        return self.first_uid + lane if self.setpriv else -1

    def command(self, argv: Sequence[str], *, files: dict[str, Path], network: bool, lane: int) -> list[str]:
        """Return the command line that runs `argv` inside; `files` are shown at the paths given as keys."""
        if not self.sandboxed:
            return list(argv)
        uid = self.uid(lane) if self.setpriv else USER_OF_A_NAMESPACE
        become = [self.setpriv, f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--"]
        return [
            self.program,
            "--die-with-parent",
            "--json-status-fd",
            "STATUS_FD",
            *self._namespaces(network),
            *_system(),
            *_private(self.temporary_bytes),  # before what is shown: that may lie below /tmp
            *_shown({path: Path(path) for path in self.readable} | files | self._user_files(uid)),
            *f"--remount-ro /dev --remount-ro / --chdir {HOME}".split(),
            "--",
            *(become if self.setpriv else []),
            *argv,
        ]

    def _namespaces(self, network: bool) -> list[str]:
        separate = ["--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"]
        if not network:
            separate.append("--unshare-net")
        if self.setpriv:
            return [*separate, *["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]]
        return [*separate, "--unshare-user", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL"]

    def _user_files(self, uid: int) -> dict[str, Path]:
        """Return /etc/passwd and /etc/group with this one user: some programs ask who they are."""
        shown = {}
        for name, text in (
            ("passwd", f"task:x:{uid}:{uid}:task:{HOME}:/bin/sh\n"),
            ("group", f"task:x:{uid}:\n"),
        ):
            path = self.users / f"{uid}.{name}"
            if not path.exists():
                path.write_text(text)
                path.chmod(0o644)
            shown[f"/etc/{name}"] = path
        return shown


def _system() -> list[str]:
    arguments = ["--ro-bind", "/usr", "/usr"]
    for made in ("/etc", "/etc/ssl", "/var"):  # by hand: what bubblewrap makes by itself only we may enter
        arguments += ["--perms", "0755", "--dir", made]
    for path in map(Path, ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")):
        if path.is_symlink():
            arguments += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    for name in ETC:
        arguments += ["--ro-bind-try", os.path.realpath(f"/etc/{name}"), f"/etc/{name}"]
    return [*arguments, "--proc", "/proc", "--dev", "/dev"]


def _shown(files: dict[str, Path]) -> list[str]:
    """Bind each read-only, below directories that everybody may enter."""
    arguments, made = [], set(map(Path, ("/", "/usr", "/etc", TEMPORARY)))
    for inside, outside in files.items():
        for parent in reversed(Path(inside).parents):
            if parent not in made and Path("/usr") not in parent.parents:
                made.add(parent)
                arguments += ["--perms", "0755", "--dir", str(parent)]
        arguments += ["--ro-bind", str(outside), inside]
    return arguments


def _private(temporary_bytes: int) -> list[str]:
    arguments = []
    for path in ("/dev/shm", TEMPORARY):
        arguments += ["--perms", "1777", "--size", str(temporary_bytes), "--tmpfs", path]
    return [*arguments, "--perms", "0777", "--dir", HOME, "--symlink", TEMPORARY, "/var/tmp"]


def open_sandbox(
    directory: Path, *, python: Sequence[str], readable: Iterable[str], temporary_bytes: int, required: bool
) -> Sandbox:
    """Return the best sandbox that works here, tested. `python` runs the probe, `directory` is for our files.

    Raises Unavailable when one is required and none works.
    """
    directory.mkdir(parents=True, exist_ok=True)
    directory.chmod(0o755)
    program, setpriv = shutil.which("bwrap"), shutil.which("setpriv")
    if program is None:
        reason = "bubblewrap is not installed"
    elif os.geteuid() == 0 and setpriv is None:
        reason = "setpriv is not installed"
    else:
        sandbox = Sandbox(
            kind="bubblewrap",
            program=program,
            setpriv=setpriv if os.geteuid() == 0 and setpriv else "",
            readable=tuple(path for path in dict.fromkeys(readable) if not f"{path}/".startswith("/usr/")),
            temporary_bytes=temporary_bytes,
            users=directory,
            first_uid=FIRST_UID + LANES * (zlib.crc32(bytes(directory)) & 0xFFFF),
        )
        reason = _test(sandbox, python, secret=directory)
        if not reason:
            return sandbox
    if required:
        raise Unavailable(
            f"tasks may only run in a sandbox here, and none works: {reason}",
            code="sandbox.required",
            hint="install bubblewrap, or allow plain processes with require_sandbox = false",
        )
    log.warning(
        "executor.no_sandbox",
        reason=reason,
        meaning="tasks run as plain processes and can read and change whatever this user can",
        advice="install bubblewrap (apt-get install bubblewrap)",
    )
    return Sandbox(kind="plain", reason=reason, temporary_bytes=temporary_bytes)


def _test(sandbox: Sandbox, python: Sequence[str], *, secret: Path) -> str:
    """Run the probe inside; return what is wrong, empty when nothing is."""
    shown = f"{TASK}/probe.py"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        arguments = [str(secret), str(listener.getsockname()[1]), str(os.getpid())]
        command = sandbox.command(
            [*python, shown, *arguments], files={shown: Path(sandbox_probe.__file__)}, network=False, lane=0
        )
        command = ["2" if part == "STATUS_FD" else part for part in command]
        try:
            done = subprocess.run(
                command, env={"PROBE": "yes"}, capture_output=True, timeout=PROBE_S, cwd="/", check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"the probe did not run: {error}"
    if done.returncode == 0 and done.stdout == sandbox_probe.SAFE:
        return ""
    said = (done.stdout + done.stderr).decode(errors="replace").strip()
    return f"the probe found: {said[-500:]}"
