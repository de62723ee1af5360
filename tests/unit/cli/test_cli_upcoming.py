"""`next` for an expression: worked out here, with what daylight saving does."""

from __future__ import annotations

import pytest

from chronoshard.cli.upcoming import is_expression, of_expression
from chronoshard.cli.words import epoch_ms
from chronoshard.errors import InvalidInput


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
