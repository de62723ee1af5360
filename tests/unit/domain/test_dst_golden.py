"""Golden tables: what schedules do when the clocks change may only change on purpose."""

from __future__ import annotations

import pytest

from tests.unit.domain.golden_tables import FOLDER, SHIFTS, Shift, table


@pytest.mark.parametrize("shift", SHIFTS, ids=lambda shift: shift.file)
def test_schedules_do_around_a_change_of_the_clocks_what_the_table_says(shift: Shift) -> None:
    assert (FOLDER / shift.file).read_text().splitlines() == table(shift).splitlines()


def test_every_table_is_read() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(shift.file for shift in SHIFTS)
