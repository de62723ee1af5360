"""`doctor` and `verify`: the exit code is the answer, the text says what to do."""

from __future__ import annotations

import json
from email.utils import formatdate

import pytest
from recording import RestServer, Shell

from chronoshard.cli.about import own_version
from chronoshard.cli.checking import check_way
from chronoshard.client import Client


class StoppedClock:
    """Says that it is a given second of 2027, for ever."""

    def __init__(self, now_s: int) -> None:
        self._now_s = now_s

    def now_ms(self) -> int:
        return self._now_s * 1000 + 500

    def monotonic_s(self) -> float:
        return 0.0


NOW_S = 1_803_556_800


@pytest.fixture
def healthy(server: RestServer) -> RestServer:
    server.answer("GET", "/version", {"version": own_version()})
    server.answer("GET", "admin/doctor", {"items": [{"check": "disk", "ok": True, "detail": "90 GB free"}]})
    return server


def test_all_well_exits_0(healthy: RestServer, shell: Shell) -> None:
    checks = json.loads(shell("doctor", "-o", "json"))["items"]

    assert ["server", "latency", "clock", "version", "disk"] == [check["check"] for check in checks]
    assert [True] * 5 == [check["ok"] for check in checks]


def test_a_fault_exits_1_with_a_line_of_advice(healthy: RestServer, shell: Shell) -> None:
    fault = {"check": "sandbox", "ok": False, "detail": "bwrap is missing", "advice": "install bubblewrap"}
    healthy.replace("GET", "admin/doctor", {"items": [fault]})

    out = shell("doctor", code=1)

    assert "sandbox  failed  bwrap is missing" in out
    assert "sandbox: install bubblewrap" == out.splitlines()[-1]


def test_a_user_still_sees_what_can_be_seen_from_here(healthy: RestServer, shell: Shell) -> None:
    healthy.replace("GET", "admin/doctor", {"detail": "operators only", "code": "auth.role"}, 403)

    assert "server's own checks  failed  operators only" in shell("doctor", code=1)


@pytest.mark.parametrize(("skew_s", "ok"), [(0, True), (1, True), (3600, False), (-5, False)])
def test_clocks_that_differ_are_a_fault(server: RestServer, skew_s: int, ok: bool) -> None:
    server.answer("GET", "/version", {"version": "9.9"}, Date=formatdate(NOW_S + skew_s, usegmt=True))

    with Client(server.url) as client:
        found = {check.check: check for check in check_way(client, StoppedClock(NOW_S))}

    assert ok is found["clock"].ok
    assert f"{skew_s:+.1f} s to this one" == found["clock"].detail


def test_different_versions_are_a_fault(server: RestServer) -> None:
    server.answer("GET", "/version", {"version": "9.9"})

    with Client(server.url) as client:
        found = {check.check: check for check in check_way(client, StoppedClock(NOW_S))}

    assert (False, f"{own_version()} here, 9.9 there") == (found["version"].ok, found["version"].detail)


def test_doctor_without_a_server_exits_5(shell: Shell) -> None:
    assert 5 == shell.run("doctor", env={"CHRONOSHARD_URL": "http://127.0.0.1:9"}).code
