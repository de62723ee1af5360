"""Random expressions of which it is known, without parsing them, what they mean."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

from chronoshard.domain.trigger import Dst
from tests.unit.domain.civil_oracle import Plain

DSTS = st.builds(Dst, gap=st.sampled_from(["run", "skip"]), overlap=st.sampled_from(["first", "last", "both"]))


class Part(NamedTuple):
    text: str
    values: frozenset[int]

    @property
    def starred(self) -> bool:
        return self.text == "*"


@st.composite
def parts(draw: st.DrawFn, low: int, high: int, *, steps: bool = True) -> Part:
    """Draw a field whose values lie in [low, high]: a star, a list, a range, and both with steps."""
    everything = frozenset(range(low, high + 1))
    kinds = ["star", "list", "range", "star step", "range step"] if steps else ["star", "list", "range"]
    match draw(st.sampled_from(kinds)):
        case "star":
            return Part("*", everything)
        case "list":
            values = draw(st.lists(st.integers(low, high), min_size=1, max_size=4, unique=True))
            return Part(",".join(map(str, values)), frozenset(values))
        case "range":
            first = draw(st.integers(low, high - 1))
            last = draw(st.integers(first + 1, high))
            return Part(f"{first}-{last}", frozenset(range(first, last + 1)))
        case "star step":
            step = draw(st.integers(2, high - low))
            return Part(f"*/{step}", frozenset(range(low, high + 1, step)))
        case _:
            first = draw(st.integers(low, high - 1))
            last = draw(st.integers(first + 1, high))
            step = draw(st.integers(2, high - low))
            return Part(f"{first}-{last}/{step}", frozenset(range(first, last + 1, step)))


@st.composite
def expressions(draw: st.DrawFn, *, any_date: bool = False, date_steps: bool = True) -> Plain:
    """Draw an expression of five fields; `any_date`: restricted by the time of the day alone.

    Without steps there is a date in every month that is named.
    """
    minute, hour = draw(parts(0, 59)), draw(parts(0, 23))
    day, month, weekday = (
        (Part("*", frozenset()),) * 3
        if any_date
        else (
            draw(parts(1, 31 if date_steps else 28, steps=date_steps)),
            draw(parts(1, 12)),
            draw(parts(0, 6, steps=date_steps)),
        )
    )
    return Plain(
        text=" ".join((minute.text, hour.text, day.text, month.text, weekday.text)),
        minutes=minute.values,
        hours=hour.values,
        days=None if day.starred else day.values,
        months=frozenset(range(1, 13)) if month.starred else month.values,
        weekdays=None if weekday.starred else weekday.values,
        every_hour="*" in hour.text or "/" in hour.text or len(hour.values) == 24,
    )
