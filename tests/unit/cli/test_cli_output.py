"""Colour is for terminals that want it; data reads back as what it was."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chronoshard.cli.output import as_json, as_yaml, colours

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)


class Terminal(io.StringIO):
    """A stream that people look at."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({}, True),
        ({"TERM": "xterm-256color"}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),  # no-color.org: only when not empty
        ({"TERM": "dumb"}, False),
    ],
)
def test_a_terminal_gets_colour_unless_it_asks_for_none(environ: Mapping[str, str], wanted: bool) -> None:
    assert wanted is colours(Terminal(), environ)


def test_a_pipe_never_gets_colour() -> None:
    assert False is colours(io.StringIO(), {"TERM": "xterm"})


@given(PLAIN)
def test_yaml_reads_back_as_what_it_was(data: object) -> None:
    assert data == yaml.safe_load(as_yaml(data))


@given(PLAIN)
def test_json_reads_back_as_what_it_was(data: object) -> None:
    assert data == json.loads(as_json(data))


def test_keys_stay_in_their_order() -> None:
    assert "kind: job\nname: a\n" == as_yaml({"kind": "job", "name": "a"})
