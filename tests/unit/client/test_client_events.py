"""Server-sent events are read as their specification says."""

from __future__ import annotations

from chronoshard.client.stream import Event, events


def test_an_event_has_its_kind_data_and_id() -> None:
    lines = ["event: output", "id: 12", 'data: {"a": 1}', ""]

    assert [Event("output", '{"a": 1}', "12")] == list(events(lines))


def test_comments_and_unknown_fields_are_no_events() -> None:
    assert [Event("message", "x", None)] == list(events([": keep-alive", "", "retry: 5", "data: x", ""]))


def test_several_data_lines_are_one_text() -> None:
    assert [Event("message", "a\nb", None)] == list(events(["data: a", "data:b", ""]))


def test_an_id_holds_until_the_next_one() -> None:
    lines = ["id: 1", "data: a", "", "data: b", ""]

    assert ["1", "1"] == [event.id for event in events(lines)]


def test_an_event_that_was_cut_off_is_dropped() -> None:
    """The connection broke inside it: it comes again after the last id."""
    assert [] == list(events(["id: 1", "data: half"]))
