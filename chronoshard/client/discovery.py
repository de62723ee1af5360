"""Which server to speak to, and with which token.

The environment decides (CHRONOSHARD_URL, CHRONOSHARD_TOKEN); without it the embedded server of this machine and
user, which leaves `server.json` in its data directory and a pointer to that in the user's runtime directory. The
token itself is in neither, only the name of the file (mode 0600) that it lies in.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from chronoshard.errors import Unavailable

DEFAULT_URL = "http://127.0.0.1:8480"
FILE_NAME = "server.json"


class Server(NamedTuple):
    """Where a server answers; `source` says who named it: `environment`, `embedded` or `default`."""

    url: str
    token: str | None
    source: str


def publish(data_dir: Path, url: str, token_file: Path) -> None:
    """Say that this process serves `data_dir` at `url`. Repeating is harmless, the last one is found."""
    server_file = data_dir.resolve() / FILE_NAME
    record = {"url": url, "token_file": str(token_file.resolve()), "pid": os.getpid()}
    _write(server_file, record)
    _write(_pointer_file(os.environ), {"server_file": str(server_file)})


def withdraw() -> None:
    """Take back what this process has published; what another has published since stays."""
    pointer = _pointer_file(os.environ)
    server_file = _server_file(pointer)
    if server_file is None:
        return
    record = _read(server_file)
    if record is not None and record.get("pid") == os.getpid():
        for path in (pointer, server_file):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()


def discover(environ: Mapping[str, str] | None = None) -> Server:
    """Return the server to speak to; raise Unavailable when the embedded one has stopped."""
    env = os.environ if environ is None else environ
    url, token = env.get("CHRONOSHARD_URL"), env.get("CHRONOSHARD_TOKEN")
    if url and token:
        return Server(url.rstrip("/"), token, "environment")
    embedded = _embedded(env)
    if url:
        same = embedded is not None and embedded.get("url") == url.rstrip("/")
        return Server(url.rstrip("/"), _token_of(embedded) if same and embedded else None, "environment")
    if embedded is None:
        return Server(DEFAULT_URL, token, "default")
    if not _is_alive(embedded.get("pid")):
        raise Unavailable(
            f"the embedded server is not running (it was at {embedded.get('url')})",
            code="server.not_running",
            hint="start it with `chronoshard up`, or set CHRONOSHARD_URL",
        )
    return Server(str(embedded["url"]), token or _token_of(embedded), "embedded")


def _embedded(env: Mapping[str, str]) -> dict[str, object] | None:
    server_file = _server_file(_pointer_file(env))
    record = None if server_file is None else _read(server_file)
    return record if record is not None and isinstance(record.get("url"), str) else None


def _server_file(pointer: Path) -> Path | None:
    named = (_read(pointer) or {}).get("server_file")
    return Path(named) if isinstance(named, str) else None


def _token_of(record: Mapping[str, object]) -> str | None:
    """Return the token, or None where this user may not read it: the server's 401 then says what to do."""
    try:
        return Path(str(record.get("token_file"))).read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def _pointer_file(env: Mapping[str, str]) -> Path:
    runtime = env.get("XDG_RUNTIME_DIR")
    base = Path(runtime) if runtime else Path(env.get("HOME") or Path.home()) / ".local" / "state"
    return base / "chronoshard" / FILE_NAME


def _read(path: Path) -> dict[str, object] | None:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def _write(path: Path, record: Mapping[str, object]) -> None:
    """Replace the file as a whole: whoever reads at the same time sees the old or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(json.dumps(record), encoding="utf-8")
    draft.replace(path)


def _is_alive(pid: object) -> bool:
    if not isinstance(pid, int) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it lives, as another user
        return True
    return True
