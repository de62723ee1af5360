"""Params as variables, and times as people write them."""

from __future__ import annotations

import pytest

from chronoshard.executor.environment import param_variables, rfc3339


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (b"{}", {}),
        (b'{"name":"two words"}', {"NAME": "two words"}),
        (b'{"max-rows":3}', {"MAX_ROWS": "3"}),
        ('{"größe":true}'.encode(), {"GR__E": "true"}),
        (b'{"a":null,"b":[1,"x"],"c":{"d":1.5}}', {"A": "null", "B": '[1,"x"]', "C": '{"d":1.5}'}),
        (b'{"zero":"a\\u0000b","other":1}', {"OTHER": "1"}),
    ],
)
def test_strings_are_bare_and_the_rest_is_json(params: bytes, expected: dict[str, str]) -> None:
    assert {f"CHRONOSHARD_PARAM_{k}": v for k, v in expected.items()} == param_variables(params)


def test_a_value_that_no_variable_can_hold_is_left_to_standard_input() -> None:
    assert {} == param_variables(b'{"long":"' + b"x" * 100_001 + b'"}')


@pytest.mark.parametrize(
    ("time_ms", "expected"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_767_225_600_250, "2026-01-01T00:00:00.250Z"),
        (1_767_225_599_999, "2025-12-31T23:59:59.999Z"),
    ],
)
def test_times_have_milliseconds_only_where_there_are_some(time_ms: int, expected: str) -> None:
    assert expected == rfc3339(time_ms)
