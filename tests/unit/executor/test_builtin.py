"""What a builtin task may say."""

from __future__ import annotations

import pytest

from chronoshard.errors import InvalidInput
from chronoshard.executor.builtin import Builtin, parse_builtin


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"noop", Builtin(0.0, 0)),
        (b"noop\n", Builtin(0.0, 0)),
        (b"sleep 2", Builtin(2.0, 0)),
        (b"sleep 0.25", Builtin(0.25, 0)),
        (b"fail 1", Builtin(0.0, 1)),
        (b"fail 255", Builtin(0.0, 255)),
    ],
)
def test_there_are_three(source: bytes, expected: Builtin) -> None:
    assert expected == parse_builtin(source)


@pytest.mark.parametrize(
    "source",
    [b"", b"noop 1", b"sleep", b"sleep -1", b"sleep 1e9", b"sleep nan", b"fail 0", b"fail 256", b"fail", b"\xff"],
)
def test_everything_else_is_refused(source: bytes) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_builtin(source)

    assert "task.builtin" == refused.value.code
