"""The server is found without being told, and a stopped one is called stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from chronoshard.client.discovery import DEFAULT_URL, FILE_NAME, Server, discover, publish, withdraw
from chronoshard.errors import Unavailable

URL = "http://127.0.0.1:9000"


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's runtime directory of its own."""
    directory = tmp_path / "runtime"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(directory))
    return directory


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text("secret\n")
    return path


def ended_pid() -> int:
    """Return the id of a process that is gone."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait(timeout=30)
    return process.pid


def test_without_anything_the_default_is_tried(runtime: Path) -> None:
    assert Server(DEFAULT_URL, None, "default") == discover()


def test_a_published_server_is_found_with_its_token(runtime: Path, tmp_path: Path, token_file: Path) -> None:
    publish(tmp_path / "data", URL, token_file)

    assert Server(URL, "secret", "embedded") == discover()


def test_the_token_itself_is_in_no_published_file(runtime: Path, tmp_path: Path, token_file: Path) -> None:
    publish(tmp_path / "data", URL, token_file)

    texts = [path.read_text() for path in (tmp_path / "data" / FILE_NAME, runtime / "chronoshard" / FILE_NAME)]
    assert [] == [text for text in texts if "secret" in text]


def test_the_environment_comes_first(runtime: Path, tmp_path: Path, token_file: Path) -> None:
    publish(tmp_path / "data", URL, token_file)
    env = {**os.environ, "CHRONOSHARD_URL": "http://far:1/", "CHRONOSHARD_TOKEN": "other"}

    assert Server("http://far:1", "other", "environment") == discover(env)


def test_the_embedded_token_never_goes_to_another_server(runtime: Path, tmp_path: Path, token_file: Path) -> None:
    publish(tmp_path / "data", URL, token_file)

    assert None is discover({**os.environ, "CHRONOSHARD_URL": "http://far:1"}).token
    assert "secret" == discover({**os.environ, "CHRONOSHARD_URL": URL}).token


def test_a_token_of_the_environment_goes_to_the_embedded_server(
    runtime: Path, tmp_path: Path, token_file: Path
) -> None:
    publish(tmp_path / "data", URL, token_file)

    assert Server(URL, "mine", "embedded") == discover({**os.environ, "CHRONOSHARD_TOKEN": "mine"})


def test_withdrawn_is_forgotten(runtime: Path, tmp_path: Path, token_file: Path) -> None:
    publish(tmp_path / "data", URL, token_file)

    withdraw()
    withdraw()

    assert "default" == discover().source
    assert not (tmp_path / "data" / FILE_NAME).exists()


def test_what_another_process_published_stays(runtime: Path, tmp_path: Path, token_file: Path) -> None:
    publish(tmp_path / "data", URL, token_file)
    server_file = tmp_path / "data" / FILE_NAME
    server_file.write_text(json.dumps({**json.loads(server_file.read_text()), "pid": os.getppid()}))

    withdraw()

    assert URL == discover().url


def test_a_server_that_is_gone_is_said_to_be_stopped(runtime: Path, tmp_path: Path, token_file: Path) -> None:
    publish(tmp_path / "data", URL, token_file)
    server_file = tmp_path / "data" / FILE_NAME
    server_file.write_text(json.dumps({**json.loads(server_file.read_text()), "pid": ended_pid()}))

    with pytest.raises(Unavailable) as caught:
        discover()

    assert "server.not_running" == caught.value.code
    assert "chronoshard up" in str(caught.value.hint)


def test_a_token_that_may_not_be_read_is_left_to_the_server_to_ask_for(runtime: Path, tmp_path: Path) -> None:
    publish(tmp_path / "data", URL, tmp_path / "nowhere")

    assert Server(URL, None, "embedded") == discover()


@pytest.mark.parametrize("pid", [None, "1", 0, -1])
def test_what_is_no_process_is_not_running(runtime: Path, tmp_path: Path, token_file: Path, pid: object) -> None:
    publish(tmp_path / "data", URL, token_file)
    server_file = tmp_path / "data" / FILE_NAME
    server_file.write_text(json.dumps({**json.loads(server_file.read_text()), "pid": pid}))

    with pytest.raises(Unavailable):
        discover()


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"server_file": "/nowhere"}'])
def test_a_broken_pointer_is_no_pointer(runtime: Path, content: str) -> None:
    pointer = runtime / "chronoshard" / FILE_NAME
    pointer.parent.mkdir(parents=True)
    pointer.write_text(content)

    assert "default" == discover().source


def test_without_a_runtime_directory_the_state_directory_is_used(
    tmp_path: Path, token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    publish(tmp_path / "data", URL, token_file)

    assert (tmp_path / ".local" / "state" / "chronoshard" / FILE_NAME).exists()
    assert URL == discover().url
    withdraw()
