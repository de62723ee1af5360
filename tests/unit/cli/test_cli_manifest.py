"""Manifests: what is written is what is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from chronoshard.cli.manifest import from_job, read
from chronoshard.cli.output import as_yaml
from chronoshard.client.transport import Json
from chronoshard.errors import InvalidInput

JOB: Json = {
    "job_id": "a" * 32,
    "name": "backup",
    "status": "scheduled",
    "generation": 3,
    "task_id": "sha256:00",
    "trigger": {"kind": "cron", "schedule": "0 3 * * *", "zone": "Europe/Berlin"},
    "params": {"text": "a\nb\n", "on": True, "date": "2027-03-01", "none": None},
    "priority": "P2",
    "retries": {"max": 3, "delay": "10s"},
    "timeout": "1h",
    "tags": {},
    "next_runs": ["2027-03-01T02:00:00Z"],
}


def test_a_job_written_and_read_is_what_defines_it() -> None:
    (manifest,) = read("-", as_yaml(from_job(JOB)))

    result = {
        key: value for key, value in JOB.items() if key not in ("job_id", "status", "generation", "next_runs")
    }
    assert ("backup", result, None) == (manifest.name, manifest.body, manifest.code)


def test_text_of_several_lines_is_written_as_a_block() -> None:
    assert "text: |\n    a\n    b\n" in as_yaml(from_job(JOB))


def test_a_file_may_hold_several_jobs_and_empty_documents() -> None:
    text = "kind: job\nname: a\n---\n---\nkind: job\nname: b\n"

    assert ["a", "b"] == [manifest.name for manifest in read("-", text)]


def test_a_named_file_is_looked_for_beside_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("print(1)")

    (manifest,) = read(str(tmp_path / "jobs.yaml"), "kind: job\nname: a\nfile: x.py\n")

    assert manifest.code is not None
    assert ("python", b"print(1)") == (manifest.code.runtime, manifest.code.content)
    assert {"name": "a"} == manifest.body


def test_yaml_s_own_times_become_text() -> None:
    (manifest,) = read("-", "kind: job\nname: a\ntrigger: {kind: once, at: 2027-03-01T09:00:00Z}\n")

    assert "2027-03-01T09:00:00+00:00" == manifest.body["trigger"]["at"]


@pytest.mark.parametrize(
    ("text", "code", "pointer"),
    [
        ("a: [", "manifest.yaml", "f.yaml"),
        ("- 1", "manifest.kind", "f.yaml#1/kind"),
        ("name: a", "manifest.kind", "f.yaml#1/kind"),
        ("kind: cron", "manifest.kind", "f.yaml#1/kind"),
        ("kind: job", "manifest.name", "f.yaml#1/name"),
        ("kind: job\nname: 5", "manifest.name", "f.yaml#1/name"),
        ("kind: job\nname: a\n---\nkind: job\nname: a", "manifest.twice", "f.yaml#2/name"),
        ("kind: job\nname: a\nfile: x\ntask_id: y", "manifest.task", "f.yaml#1/file"),
        ("kind: job\nname: a\nfile: nowhere.py", "source.unreadable", "f.yaml#1/file"),
        ("kind: job\nname: a\nparams: {a: .nan}", "manifest.value", "f.yaml#1/params/a"),
        ("kind: job\nname: a\nparams: {a: !!binary aGk=}", "manifest.value", "f.yaml#1/params/a"),
    ],
)
def test_what_is_no_manifest_is_refused_with_its_place(text: str, code: str, pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read("f.yaml", text)

    assert (code, pointer) == (caught.value.code, caught.value.pointer)
