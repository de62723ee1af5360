"""Tables line up, whatever is in them."""

from __future__ import annotations

from chronoshard.cli.table import pairs, printable, render


def test_columns_are_aligned_and_nothing_trails() -> None:
    text = render(("JOB", "STATE", "ERROR"), [("a", "failed", "exit code 3"), ("longer", "ok", None)])

    assert text.splitlines() == [
        "JOB     STATE   ERROR",
        "a       failed  exit code 3",
        "longer  ok      -",
    ]


def test_wide_characters_count_twice_and_combining_ones_not() -> None:
    text = render(("N", "X"), [("夜間", "1"), ("e\u0301", "2")])

    assert ["N     X", "夜間  1", "e\u0301     2"] == text.splitlines()


def test_a_cell_cannot_move_the_cursor_or_break_its_line() -> None:
    text = render(("ERROR",), [("a\x1b[2Jb\nc\u202ed",)])

    assert ["ERROR", "a\\x1b[2Jb\\nc\\u202ed"] == text.splitlines()


def test_only_rows_are_painted_and_after_they_were_aligned() -> None:
    text = render(("A", "B"), [("x", "y")], lambda column, cell, padded: f"<{column}{cell}{padded}>")

    assert ["A  B", "<0xx>  <1yy>"] == text.splitlines()


def test_an_empty_table_still_names_its_columns() -> None:
    assert "JOB  NAME" == render(("JOB", "NAME"), [])


def test_pairs_align_values_and_indent_lists() -> None:
    text = pairs([("job", "x"), ("next", ["a", "b"]), ("paused", True), ("runs", [])])

    assert text.splitlines() == ["job     x", "next    a", "        b", "paused  yes", "runs    -"]


def test_what_is_printable_stays_as_it_is() -> None:
    assert "Größe 5 – ok 夜" == printable("Größe 5 – ok 夜")
