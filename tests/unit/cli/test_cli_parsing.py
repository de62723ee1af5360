"""What people type, as values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chronoshard.cli.parsing import parse_duration, parse_pairs, parse_params, parse_time, parse_zone
from chronoshard.cli.words import epoch_ms, rfc3339
from chronoshard.errors import InvalidInput

NOON = epoch_ms("2027-03-01T12:00:00Z")


@pytest.mark.parametrize(
    ("text", "length_ms"),
    [
        ("0", 0),
        ("90", 90_000),
        ("1.5", 1_500),
        ("90s", 90_000),
        ("250ms", 250),
        ("5m", 300_000),
        ("1h30m", 5_400_000),
        ("1.5h", 5_400_000),
        ("2d", 172_800_000),
    ],
)
def test_a_duration_is_seconds_or_units(text: str, length_ms: int) -> None:
    assert length_ms == parse_duration(text, "--every")


@pytest.mark.parametrize("text", ["", "soon", "5 m", "-5m", "5x", "m5", "1h30", "NaN", "inf", "1e3"])
def test_what_is_no_duration_names_its_option(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_duration(text, "--every")

    assert ("duration.form", "--every") == (caught.value.code, caught.value.pointer)


@pytest.mark.parametrize(
    ("text", "zone", "expected"),
    [
        ("2027-03-01T09:00:00Z", None, "2027-03-01T09:00:00Z"),
        ("2027-03-01T09:00:00+01:00", "America/New_York", "2027-03-01T08:00:00Z"),
        ("2027-03-01T09:00", "Europe/Berlin", "2027-03-01T08:00:00Z"),
        ("2027-03-01 09:00:30", "Asia/Tokyo", "2027-03-01T00:00:30Z"),
        ("2027-03-01", "UTC", "2027-03-01T00:00:00Z"),
        ("2027-03-01T09:00:00.250Z", None, "2027-03-01T09:00:00.250Z"),
        ("+10m", None, "2027-03-01T12:10:00Z"),
        ("+90", "Europe/Berlin", "2027-03-01T12:01:30Z"),
        ("2027-10-31T02:30", "Europe/Berlin", "2027-10-31T00:30:00Z"),  # shown twice: the first of them
    ],
)
def test_a_time_is_absolute_local_or_relative(text: str, zone: str | None, expected: str) -> None:
    assert expected == rfc3339(parse_time(text, "--at", now_ms=NOON, zone=zone))


def test_a_time_that_clocks_jump_over_is_refused_with_the_next_one() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_time("2027-03-28T02:30", "--at", now_ms=NOON, zone="Europe/Berlin")

    assert "time.gap" == caught.value.code
    assert "2027-03-28 03:30:00" in str(caught.value.hint)


@pytest.mark.parametrize("text", ["tomorrow", "", "25:00", "2027-02-30", "+soon", "1803556800"])
def test_what_is_no_time_names_its_option(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_time(text, "--at", now_ms=NOON)

    assert "--at" == caught.value.pointer


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Europe/Berln", "did you mean Europe/Berlin?"),
        ("berlin", "did you mean Europe/Berlin?"),
        ("New York", "did you mean America/New_York?"),
        ("qqqq", "write an IANA name such as Europe/Berlin or UTC"),
        ("../etc/passwd", "write an IANA name such as Europe/Berlin or UTC"),
    ],
)
def test_an_unknown_zone_is_answered_with_a_near_one(name: str, hint: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_zone(name)

    assert ("zone.unknown", hint) == (caught.value.code, caught.value.hint)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("k=5", 5),
        ("k=1.5", 1.5),
        ("k=true", True),
        ("k=null", None),
        ('k={"a": [1]}', {"a": [1]}),
        ('k="5"', "5"),
        ("k=five", "five"),
        ("k=", ""),
        ("k=a=b", "a=b"),
        ("k=NaN", "NaN"),
        ("k=-Infinity", "-Infinity"),
        ("k=1e999", "1e999"),
        ("k=05", "05"),
    ],
)
def test_a_param_is_json_where_it_is_json(text: str, value: object) -> None:
    assert {"k": value} == parse_params([text])


@pytest.mark.parametrize("texts", [["k"], ["=v"], [""], ["a=1", "a=2"]])
def test_a_pair_that_is_none_or_comes_twice_is_refused(texts: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_pairs(texts, "--param")

    assert "--param" == caught.value.pointer


@given(st.integers(min_value=0, max_value=4_102_444_800_000))
def test_a_printed_time_reads_back_as_itself(time_ms: int) -> None:
    assert time_ms == epoch_ms(rfc3339(time_ms))
