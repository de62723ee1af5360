"""Names that can be read back, and places that follow from them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chronoshard.domain.identity import (
    SCHEDULE,
    AttemptKey,
    Partition,
    Run,
    job_id_for,
    minute_of,
    new_job_id,
    origin_for,
    parse_run_id,
    partition_of,
    shard_of,
)
from chronoshard.errors import NotFound

ids = st.text("0123456789abcdef", min_size=32, max_size=32)


@given(ids, st.integers(0, 2**47), st.integers(0, 2**63 - 1))
def test_a_run_id_can_be_read_back(job_id: str, nominal_ms: int, origin: int) -> None:
    run = Run(job_id, nominal_ms, origin)

    assert run == parse_run_id(run.id)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "0" * 32 + "-1",
        "0" * 32 + "-01-0",
        "0" * 32 + "-1-00",
        "G" * 32 + "-1-0",
        "0" * 32 + "-1-ffffffffffffffff",
    ],
)
def test_text_that_no_run_has_as_its_id_is_not_found(text: str) -> None:
    with pytest.raises(NotFound):
        parse_run_id(text)


@given(st.text())
def test_a_request_never_takes_the_origin_of_the_schedule_and_fits_a_signed_column(request_key: str) -> None:
    assert SCHEDULE < origin_for(request_key) < 2**63


def test_the_same_owner_and_key_lead_to_the_same_job() -> None:
    assert job_id_for("ann", "k") == job_id_for("ann", "k")
    assert job_id_for("ann", "k") != job_id_for("bob", "k")
    assert new_job_id() != new_job_id()


@given(ids, st.integers(1, 4096))
def test_every_job_has_one_shard_below_the_count(job_id: str, shards: int) -> None:
    assert shard_of(job_id, shards) == shard_of(job_id, shards)
    assert 0 <= shard_of(job_id, shards) < shards


def test_the_place_of_an_attempt_follows_from_its_due_time_and_job() -> None:
    key = AttemptKey(120_001, "a" * 32, 120_000, SCHEDULE, 0)

    assert Partition(2, shard_of("a" * 32, 16)) == partition_of(key, 16)
    assert 2 == key.minute == minute_of(120_001)
    assert f"{key.run.id}/0" == key.name
