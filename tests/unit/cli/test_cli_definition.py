"""Options that describe a job become the fields of a request."""

from __future__ import annotations

import pytest

from chronoshard.cli.definition import Definition, fields_of
from chronoshard.cli.triggers import edited_trigger, new_trigger
from chronoshard.cli.words import epoch_ms
from chronoshard.client.transport import Json
from chronoshard.errors import InvalidInput

NOON = epoch_ms("2027-03-01T12:00:00Z")


@pytest.mark.parametrize(
    ("definition", "trigger"),
    [
        (Definition(cron="0 3 * * *"), {"kind": "cron", "schedule": "0 3 * * *"}),
        (
            Definition(cron="0 3 * * *", zone="Europe/Berlin", max_runs=3),
            {"kind": "cron", "schedule": "0 3 * * *", "zone": "Europe/Berlin", "max_runs": 3},
        ),
        (Definition(every="1h30m", jitter="5s"), {"kind": "interval", "every": "1h30m", "jitter": "5s"}),
        (
            Definition(every="5m", starts_at="2027-04-01T00:00", ends_at="+1d", zone="Europe/Berlin"),
            {
                "kind": "interval",
                "every": "5m",
                "starts_at": "2027-03-31T22:00:00Z",
                "ends_at": "2027-03-02T12:00:00Z",
            },
        ),
        (Definition(at="+10m"), {"kind": "once", "at": "2027-03-01T12:10:00Z"}),
        (Definition(now=True), {"kind": "now"}),
        (Definition(manual=True), {"kind": "manual"}),
    ],
)
def test_each_kind_of_trigger_has_its_options(definition: Definition, trigger: Json) -> None:
    assert trigger == new_trigger(definition, now_ms=NOON)


def test_policies_are_sent_as_the_server_names_them() -> None:
    definition = Definition(
        name="n",
        param=("a=1", "b=x"),
        priority=1,
        retries=0,
        retry_delay="10s",
        timeout="5m",
        catchup="none",
        overlap="skip",
        tag=("team=billing",),
    )

    assert {
        "name": "n",
        "params": {"a": 1, "b": "x"},
        "priority": "P1",
        "retries": {"max": 0, "delay": "10s"},
        "timeout": "5m",
        "catchup": {"mode": "none"},
        "overlap": "skip",
        "tags": {"team": "billing"},
    } == fields_of(definition)


def test_what_is_not_given_is_not_sent() -> None:
    assert {} == fields_of(Definition())
    assert None is edited_trigger(Definition(), {"kind": "manual"}, now_ms=NOON)


@pytest.mark.parametrize(
    ("definition", "option"),
    [
        (Definition(cron="* * * * *", every="5m"), "--every"),
        (Definition(at="+5m", now=True), "--now"),
        (Definition(now=True, manual=True), "--manual"),
        (Definition(now=True, max_runs=3), "--max-runs"),
        (Definition(at="+5m", starts_at="+1m"), "--starts-at"),
        (Definition(manual=True, jitter="5s"), "--jitter"),
    ],
)
def test_options_that_exclude_each_other_are_refused(definition: Definition, option: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        new_trigger(definition, now_ms=NOON)

    assert ("usage.trigger", option) == (caught.value.code, caught.value.pointer)


def test_a_new_job_must_say_when() -> None:
    with pytest.raises(InvalidInput) as caught:
        new_trigger(Definition(zone="UTC"), now_ms=NOON)

    assert "give one of --cron, --every, --at, --now or --manual" == caught.value.hint


@pytest.mark.parametrize("definition", [Definition(every="5m", zone="UTC"), Definition(now=True, zone="UTC")])
def test_a_zone_that_changes_nothing_is_refused(definition: Definition) -> None:
    with pytest.raises(InvalidInput) as caught:
        new_trigger(definition, now_ms=NOON)

    assert ("usage.zone", "--zone") == (caught.value.code, caught.value.pointer)


CRON: Json = {"kind": "cron", "schedule": "0 3 * * *", "zone": "Europe/Berlin", "jitter": "5s"}


@pytest.mark.parametrize(
    ("definition", "trigger"),
    [
        (Definition(cron="0 4 * * *"), {**CRON, "schedule": "0 4 * * *"}),
        (Definition(zone="UTC"), {**CRON, "zone": "UTC"}),
        (Definition(max_runs=3, jitter="0s"), {**CRON, "max_runs": 3, "jitter": "0s"}),
        (Definition(every="5m"), {"kind": "interval", "every": "5m"}),
        (Definition(manual=True), {"kind": "manual"}),
    ],
)
def test_an_edit_keeps_what_it_does_not_name_while_the_kind_stays(definition: Definition, trigger: Json) -> None:
    assert trigger == edited_trigger(definition, CRON, now_ms=NOON)


@pytest.mark.parametrize("definition", [Definition(max_runs=3), Definition(zone="UTC")])
def test_an_edit_cannot_bound_what_does_not_recur(definition: Definition) -> None:
    with pytest.raises(InvalidInput):
        edited_trigger(definition, {"kind": "manual"}, now_ms=NOON)
