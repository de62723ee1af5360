"""`next` for an expression: worked out here, with what daylight saving does."""

from __future__ import annotations

import pytest

from chronoshard.cli.upcoming import is_expression, of_expression, of_job
from chronoshard.cli.words import epoch_ms
from chronoshard.client.transport import Json
from chronoshard.errors import InvalidInput

NOON = epoch_ms("2027-03-27T12:00:00Z")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("*/5 * * * *", True),
        ("0 9 * * MON-FRI", True),
        ("20 * * *", True),  # a wrong one is still one: the answer says what is wrong with it
        ("H 3 * * *", True),
        ("@daily", True),
        ("backup", False),
        ("nightly backup", False),
        ("3rd party: sync", False),
        ("0123456789abcdef0123456789abcdef", False),
    ],
)
def test_an_expression_is_told_from_a_name(word: str, meant: bool) -> None:
    assert meant is is_expression(word)


def test_times_are_local_and_utc_and_say_what_daylight_saving_does() -> None:
    data = of_expression("30 2 * * *", "Europe/Berlin", count=2, now_ms=epoch_ms("2027-03-27T12:00:00Z"))

    assert "At 02:30 (Europe/Berlin)" == data["description"]
    first, second = data["times"]
    assert ("2027-03-28T01:00:00Z", "2027-03-28T03:00:00+02:00") == (first["utc"], first["local"])
    assert "clocks go forward" in first["note"]
    assert {"utc": "2027-03-29T00:30:00Z", "local": "2027-03-29T02:30:00+02:00"} == second


def test_an_expression_with_h_says_that_jobs_differ() -> None:
    data = of_expression("H 3 * * *", "UTC", count=1, now_ms=0)

    assert data["description"].endswith("where every job has its own value for H")


@pytest.mark.parametrize(
    ("schedule", "zone", "code"),
    [
        ("20 * * *", "UTC", "cron.fields"),
        ("0 0 30 2 *", "UTC", "cron.never"),
        ("0 0 * * *", "Europe/Berln", "zone.unknown"),
    ],
)
def test_what_cannot_be_is_refused_as_the_server_would(schedule: str, zone: str, code: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        of_expression(schedule, zone, count=1, now_ms=epoch_ms("2027-03-27T12:00:00Z"))

    assert code == caught.value.code


def job(trigger: Json, next_runs: list[str], **more: object) -> Json:
    return {"job_id": "a" * 32, "status": "scheduled", "trigger": trigger, "next_runs": next_runs, **more}


def times_of(document: Json, count: int) -> list[str]:
    return [entry["utc"] for entry in of_job(document, count=count, now_ms=NOON)["times"]]


HOURS = [f"2027-03-27T{hour}:30:00Z" for hour in range(13, 18)]


def test_an_interval_goes_on_from_where_the_server_left_off() -> None:
    document = job({"kind": "interval", "every": "1h"}, HOURS)

    assert [*HOURS, "2027-03-27T18:30:00Z"] == times_of(document, 6)
    assert HOURS[:2] == times_of(document, 2)


def test_an_expression_goes_on_with_the_job_s_own_h() -> None:
    daily = [f"2027-03-2{day}T03:29:00Z" for day in range(5)]
    document = job({"kind": "cron", "schedule": "29 3 * * *", "zone": "UTC"}, daily)

    assert [*daily, "2027-03-25T03:29:00Z"] == times_of(document, 6)


def test_no_more_runs_are_promised_than_the_server_counts() -> None:
    bounded = {"kind": "interval", "every": "1h", "max_runs": 6}

    assert HOURS == times_of(job(bounded, HOURS), 9)
    assert HOURS[:2] == times_of(job({"kind": "interval", "every": "1h"}, HOURS[:2]), 9)


def test_times_after_the_end_of_a_trigger_are_left_out() -> None:
    ends = {"kind": "interval", "every": "1h", "ends_at": "2027-03-27T18:30:00Z"}

    assert [*HOURS, "2027-03-27T18:30:00Z"] == times_of(job(ends, HOURS), 9)


def test_a_job_s_policy_for_daylight_saving_decides_the_note() -> None:
    trigger = {"kind": "cron", "schedule": "30 2 * * *", "zone": "Europe/Berlin"}
    both = job(trigger, ["2027-10-31T00:30:00Z", "2027-10-31T01:30:00Z"], dst={"gap": "run", "overlap": "both"})

    first, second = of_job(both, count=2, now_ms=NOON)["times"]

    assert ("first time", "second time") == (first["note"][-10:], second["note"][-11:])


@pytest.mark.parametrize(
    ("trigger", "description"),
    [
        ({"kind": "manual"}, "Only when asked"),
        ({"kind": "now"}, "Once, at once"),
        ({"kind": "once", "at": "2027-01-01T00:00:00Z"}, "Once"),
        ({"kind": "interval", "every": "5m", "ends_at": "2027-01-01T00:00:00Z"}, "Every 5 minutes"),
        ({"kind": "interval", "every": "1h30m", "jitter": "90s", "max_runs": 3}, "Every 1 hour"),
        ({"kind": "cron", "schedule": "@daily", "zone": "UTC"}, "At 00:00 (UTC)"),
    ],
)
def test_a_job_without_a_next_run_has_none(trigger: Json, description: str) -> None:
    told = of_job(job(trigger, []), count=5, now_ms=NOON)

    assert [] == told["times"]
    assert told["description"].startswith(description)


def test_a_paused_job_says_so_and_still_has_its_words() -> None:
    spread = {"kind": "cron", "schedule": "H 3 * * *", "zone": "UTC"}

    told = of_job(job(spread, [], status="disabled"), count=5, now_ms=NOON)

    assert ("disabled", []) == (told["status"], told["times"])
    assert told["description"].startswith("At 03:")


def test_a_job_that_runs_once_has_one() -> None:
    document = job({"kind": "once", "at": "2027-04-01T00:00:00Z"}, ["2027-04-01T00:00:00Z"])

    assert ["2027-04-01T00:00:00Z"] == times_of(document, 5)
