"""What becomes of runs that are late, one by one and in one jump: both ways say the same."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chronoshard.domain.catchup import LATE_MS, Catchup, decide, skip_until
from chronoshard.domain.trigger import Cron, Dst, Interval, Once, Trigger, next_occurrences

NOW = 1_800_000_000_000
SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
DST = Dst()


def decided(
    mode: Literal["latest", "all", "none"],
    *,
    late_ms: int,
    jitter_ms: int = 0,
    following_ms: int | None = None,
    window_ms: int = DAY,
) -> str | None:
    nominal_ms = NOW - late_ms - jitter_ms
    return decide(
        Catchup(mode, window_ms),
        nominal_ms=nominal_ms,
        due_ms=nominal_ms + jitter_ms,
        now_ms=NOW,
        next_nominal_ms=following_ms,
    )


@pytest.mark.parametrize("mode", ["latest", "all", "none"])
def test_what_is_late_by_a_minute_at_most_just_runs(mode: Literal["latest", "all", "none"]) -> None:
    assert decided(mode, late_ms=LATE_MS, following_ms=NOW - 1, window_ms=0) is None
    assert decided(mode, late_ms=LATE_MS, jitter_ms=HOUR, following_ms=NOW - 1) is None


def test_none_skips_all_that_is_late() -> None:
    assert "catchup.none" == decided("none", late_ms=LATE_MS + 1)


def test_nothing_older_than_the_window_is_caught_up() -> None:
    assert "catchup.window" == decided("all", late_ms=DAY + 1)
    assert "catchup.window" == decided("latest", late_ms=DAY + 1)
    assert decided("all", late_ms=DAY) is None


def test_latest_runs_only_what_nothing_newer_has_followed() -> None:
    assert "catchup.latest" == decided("latest", late_ms=HOUR, following_ms=NOW)
    assert decided("latest", late_ms=HOUR, following_ms=NOW + 1) is None
    assert decided("latest", late_ms=HOUR) is None
    assert decided("all", late_ms=HOUR, following_ms=NOW) is None


@pytest.mark.parametrize(
    ("mode", "resume_ms"),
    [("latest", NOW - LATE_MS), ("none", NOW - LATE_MS), ("all", NOW - DAY)],
)
def test_three_days_of_an_every_second_job_are_one_jump(
    mode: Literal["latest", "all", "none"], resume_ms: int
) -> None:
    every_second = Cron("* * * * * *")

    assert resume_ms == skip_until(Catchup(mode), every_second, after_ms=NOW - 3 * DAY, now_ms=NOW, dst=DST)


def test_a_daily_job_resumes_at_its_newest_time_or_at_the_next() -> None:
    daily = Interval(DAY, NOW - 10 * DAY - HOUR)
    absent = {"after_ms": NOW - 5 * DAY - HOUR, "now_ms": NOW, "dst": DST}

    assert NOW - HOUR == skip_until(Catchup("latest"), daily, **absent)
    assert NOW - HOUR + DAY == skip_until(Catchup("none"), daily, **absent)
    assert NOW - HOUR + DAY == skip_until(Catchup("latest", window_ms=MINUTE), daily, **absent)
    assert NOW - 2 * DAY - HOUR == skip_until(Catchup("all", window_ms=3 * DAY), daily, **absent)


@pytest.mark.parametrize("mode", ["latest", "all", "none"])
def test_what_its_jitter_may_still_bring_in_time_is_not_jumped_over(
    mode: Literal["latest", "all", "none"],
) -> None:
    every_20_s = Interval(20 * SECOND, NOW - 2 * DAY, jitter_ms=90 * SECOND)

    resume_ms = skip_until(Catchup(mode, window_ms=0), every_20_s, after_ms=NOW - HOUR, now_ms=NOW, dst=DST)

    assert NOW - 140 * SECOND == resume_ms


@pytest.mark.parametrize(
    ("trigger", "after_ms"),
    [
        (Cron("* * * * * *"), NOW - LATE_MS),  # not absent for long enough
        (Interval(HOUR, NOW - HOUR), NOW - HOUR),  # nothing lies between
        (Once(NOW - HOUR), NOW - HOUR),  # nothing comes any more
        (Interval(MINUTE, NOW - DAY, ends_at_ms=NOW - HOUR), NOW - HOUR),
    ],
)
@pytest.mark.parametrize("mode", ["latest", "all", "none"])
def test_where_nothing_is_skipped_there_is_no_jump(
    trigger: Trigger, after_ms: int, mode: Literal["latest", "all", "none"]
) -> None:
    assert skip_until(Catchup(mode), trigger, after_ms=after_ms, now_ms=NOW, dst=DST) is None


@given(
    catchup=st.builds(
        Catchup,
        mode=st.sampled_from(["latest", "all", "none"]),
        window_ms=st.sampled_from([0, 30 * SECOND, 5 * MINUTE, HOUR, DAY]),
    ),
    every_ms=st.sampled_from([20 * SECOND, MINUTE, 7 * MINUTE, HOUR]),
    offset_ms=st.integers(0, HOUR),
    absent_ms=st.integers(0, 3 * HOUR),
    jitter_ms=st.sampled_from([0, 0, 90 * SECOND]),
    ends_ms=st.none() | st.integers(-HOUR, HOUR),
)
@settings(max_examples=300, deadline=None)
def test_a_jump_skips_what_would_be_skipped_one_by_one_and_nothing_else(
    catchup: Catchup, every_ms: int, offset_ms: int, absent_ms: int, jitter_ms: int, ends_ms: int | None
) -> None:
    trigger = Interval(
        every_ms,
        NOW - 2 * DAY + offset_ms,
        jitter_ms=jitter_ms,
        ends_at_ms=None if ends_ms is None else NOW + ends_ms,
    )
    after_ms = NOW - absent_ms
    times = next_occurrences(trigger, after_ms=after_ms, dst=DST, count=600)
    followers = dict(zip(times, [*times[1:], None], strict=False))

    def may_run(nominal_ms: int) -> bool:
        """With the latest due that jitter allows: the decision that is kindest to the run."""
        due_ms, following_ms = nominal_ms + max(0, jitter_ms - 1), followers[nominal_ms]
        reason = decide(catchup, nominal_ms=nominal_ms, due_ms=due_ms, now_ms=NOW, next_nominal_ms=following_ms)
        return reason is None

    until_ms = skip_until(catchup, trigger, after_ms=after_ms, now_ms=NOW, dst=DST)

    jumped = [] if until_ms is None else [nominal_ms for nominal_ms in times if nominal_ms < until_ms]
    assert [] == [nominal_ms for nominal_ms in jumped if may_run(nominal_ms)]
    if until_ms is not None:
        assert jumped
        assert until_ms in times
        assert may_run(until_ms) or jitter_ms
