"""What a server refuses arrives as the error that it meant."""

from __future__ import annotations

import json

import pytest

from chronoshard import errors
from chronoshard.client.problems import error_from


def problem(**fields: object) -> bytes:
    return json.dumps({"type": "about:blank", "title": "Refused", **fields}).encode()


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.InvalidInput),
        (401, errors.Unauthorized),
        (403, errors.Forbidden),
        (404, errors.NotFound),
        (409, errors.Conflict),
        (412, errors.StaleVersion),
        (413, errors.TooLarge),
        (422, errors.InvalidInput),
        (429, errors.TooMany),
        (500, errors.ChronoshardError),
        (503, errors.Unavailable),
        (504, errors.OutcomeUnknown),
    ],
)
def test_a_status_has_its_class(status: int, kind: type[errors.ChronoshardError]) -> None:
    assert kind is type(error_from(status, problem(detail="no")))


def test_code_detail_hint_and_request_survive() -> None:
    error = error_from(422, problem(code="cron.fields", detail="4 fields", hint="add one", request_id="r1"))

    assert ("cron.fields", "4 fields", "add one", "r1") == (
        error.code,
        error.detail,
        error.hint,
        error.request_id,
    )


def test_every_bad_field_survives_and_the_first_is_the_pointer() -> None:
    listed = [{"pointer": "/name", "detail": "too long"}, {"pointer": "/trigger", "detail": "missing"}]

    error = error_from(422, problem(detail="two fields are wrong", errors=listed))

    assert (("/name", "too long"), ("/trigger", "missing")) == error.fields
    assert "/name" == error.pointer


def test_an_unknown_outcome_is_told_apart_from_a_plain_no() -> None:
    error = error_from(503, problem(code="unavailable.unknown_outcome", detail="perhaps"))

    assert errors.OutcomeUnknown is type(error)


@pytest.mark.parametrize("content", [b"", b"<html>Bad Gateway</html>", b"[1]", b"\xff"])
def test_what_is_no_problem_document_still_says_what_came_back(content: bytes) -> None:
    error = error_from(502, content, "r9")

    assert errors.Unavailable is type(error)
    assert ("the server answered 502 and said no more", "r9") == (error.detail, error.request_id)
