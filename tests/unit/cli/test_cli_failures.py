"""Every error has its exit code and its words."""

from __future__ import annotations

import pytest

from chronoshard import errors
from chronoshard.cli.failures import as_record, as_text, exit_of, wants_json


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.InvalidInput, 2),
        (errors.TooLarge, 2),
        (errors.NotFound, 3),
        (errors.Conflict, 4),
        (errors.StaleVersion, 4),
        (errors.Unavailable, 5),
        (errors.OutcomeUnknown, 5),
        (errors.TooMany, 5),
        (errors.ChronoshardError, 5),
        (errors.Unauthorized, 6),
        (errors.Forbidden, 6),
    ],
)
def test_an_error_has_its_exit_code(kind: type[errors.ChronoshardError], code: int) -> None:
    assert code == exit_of(kind("no"))


def test_the_words_say_what_where_why_and_what_next() -> None:
    error = errors.InvalidInput(
        '"20 * * *" has 4 fields, needs 5', code="cron.fields", pointer="/trigger/schedule", hint="add one"
    )
    error.request_id = "r1"

    assert as_text(error).splitlines() == [
        'error[cron.fields]: "20 * * *" has 4 fields, needs 5',
        "  where: --cron (/trigger/schedule)",
        "  why:   the server refused it (request r1)",
        "  next:  add one",
    ]


def test_every_bad_field_has_its_line() -> None:
    error = errors.InvalidInput("2 fields are wrong")
    error.fields = (("/name", "too long"), ("/params", "not an object"))

    assert as_text(error).splitlines() == [
        "error[input.invalid]: 2 fields are wrong",
        "  where: /name: too long",
        "  where: /params: not an object",
    ]


def test_a_cause_that_the_sentence_does_not_hold_is_the_why() -> None:
    error = errors.Unavailable("no answer from http://x")
    error.__cause__ = OSError("connection refused")

    assert "  why:   connection refused" in as_text(error).splitlines()


@pytest.mark.parametrize(
    "kind",
    [
        errors.Unauthorized,
        errors.Forbidden,
        errors.StaleVersion,
        errors.TooMany,
        errors.OutcomeUnknown,
        errors.Unavailable,
    ],
)
def test_what_carries_no_hint_still_has_a_next_step(kind: type[errors.ChronoshardError]) -> None:
    assert "\n  next:  " in as_text(kind("no"))


def test_a_server_s_text_cannot_move_the_cursor() -> None:
    assert "error[conflict]: a\\x1b[2Jb" == as_text(errors.Conflict("a\x1b[2Jb"))


def test_a_program_gets_the_same_as_json() -> None:
    error = errors.Conflict("the name is taken", code="name.taken", pointer="/name", hint="take another")
    error.request_id = "r1"

    assert {
        "error": {
            "code": "name.taken",
            "detail": "the name is taken",
            "errors": [{"pointer": "/name", "detail": "the name is taken"}],
            "why": "the server refused it (request r1)",
            "next": "take another",
            "request_id": "r1",
            "exit_code": 4,
        }
    } == as_record(error)


@pytest.mark.parametrize(
    ("tokens", "wanted"),
    [
        (["get", "jobs", "-o", "json"], True),
        (["get", "jobs", "--output", "json"], True),
        (["get", "jobs", "-ojson"], True),
        (["get", "jobs", "--output=json"], True),
        (["get", "jobs", "-o", "yaml"], False),
        (["get", "jobs", "-o"], False),
        (["bench", "--", "-o", "json"], False),
        ([], False),
    ],
)
def test_json_is_recognised_on_lines_that_cannot_be_parsed(tokens: list[str], wanted: bool) -> None:
    assert wanted is wants_json(tokens)
