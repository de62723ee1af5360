"""Results on disk: whole or not at all, and gone only when all are accepted."""

from __future__ import annotations

from pathlib import Path

from chronoshard.domain.attempt import Output
from chronoshard.domain.identity import AttemptKey
from chronoshard.executor.spool import Spool, Spooled
from chronoshard.link import Result


def spooled(number: int) -> Spooled:
    key = AttemptKey(1, "job", 2, number, 3)
    output = Output(5, 0, True) if number % 2 else None
    result = Result(key, "token", "e1", "1", "FAILED", 10, 20, exit_code=3, error="exit code 3", output=output)
    return Spooled(result, f"1/attempts/{number}" if number % 2 else "")


def test_the_next_life_reads_what_was_written_oldest_first(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.write([spooled(1), spooled(2)])
    spool.write([spooled(3)])

    batches = Spool(tmp_path).load()

    assert [[spooled(1), spooled(2)], [spooled(3)]] == [list(batch.items) for batch in batches]


def test_a_batch_stays_until_its_last_result_is_accepted(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    batch = spool.write([spooled(1), spooled(2)])

    spool.accepted(batch)
    assert 1 == len(Spool(tmp_path).load())

    spool.accepted(batch)
    assert [] == Spool(tmp_path).load()


def test_a_new_life_does_not_write_over_what_the_last_one_left(tmp_path: Path) -> None:
    Spool(tmp_path).write([spooled(1)])

    Spool(tmp_path).write([spooled(2)])

    assert [[spooled(1)], [spooled(2)]] == [list(batch.items) for batch in Spool(tmp_path).load()]


def test_half_a_file_is_no_batch(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    path = spool.write([spooled(1)]).path
    assert path is not None
    path.rename(path.with_suffix(".part"))

    assert [] == Spool(tmp_path).load()


def test_a_damaged_file_is_put_aside_and_spoils_no_other(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    path = spool.write([spooled(1)]).path
    assert path is not None
    path.write_bytes(b"\0" * 100)
    spool.write([spooled(2)])

    assert [[spooled(2)]] == [list(batch.items) for batch in Spool(tmp_path).load()]
    assert path.with_suffix(".damaged").exists()
