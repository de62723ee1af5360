"""Heads change by compare-and-set, specs never; names belong to one job at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from msgspec.structs import replace
from store_values import JOB, SHARD, head, job_ids, spec

from chronoshard.domain.job import Head, Intent, Status
from chronoshard.ports import Store


def test_inserted_jobs_are_read_back_whole(store: Store) -> None:
    ids = job_ids(3)
    heads = [replace(head(job_id), live_run=run) for job_id, run in zip(ids, (None, "r-1", None), strict=True)]
    specs = [spec(job_id) for job_id in ids]

    store.jobs.insert(list(zip(heads, specs, strict=True)))

    assert dict(zip(ids, heads, strict=True)) == store.jobs.heads(ids)
    assert {(one.job_id, 1): one for one in specs} == store.jobs.specs([(job_id, 1) for job_id in ids])


def test_only_what_exists_is_found(store: Store) -> None:
    mine, missing = job_ids(2)
    store.jobs.insert([(head(mine), spec(mine))])

    assert {mine: head(mine)} == store.jobs.heads({mine, missing})
    assert {} == store.jobs.heads([])
    assert {(mine, 1): spec(mine)} == store.jobs.specs({(mine, 1), (mine, 2), (missing, 1)})
    assert {} == store.jobs.specs([])


def test_heads_of_several_shards_are_found_together(store: Store) -> None:
    ids = [job_ids(1, shard=shard)[0] for shard in range(3)]
    store.jobs.insert([(head(job_id), spec(job_id)) for job_id in ids])

    assert set(ids) == store.jobs.heads(ids).keys()


def test_inserting_again_leaves_the_head_and_the_spec(store: Store) -> None:
    store.jobs.insert([(head(), spec())])
    assert store.jobs.change(head(generation=2), spec(generation=2), expected_generation=1)

    store.jobs.insert([(replace(head(), owner="eve"), spec(params=b'{"evil": 1}'))])

    assert {JOB: head(generation=2)} == store.jobs.heads([JOB])
    assert {(JOB, 1): spec()} == store.jobs.specs([(JOB, 1)])


def test_creating_returns_the_first_head(store: Store) -> None:
    other = replace(head(), body_hash="other")

    assert head() == store.jobs.create(head(), spec())
    assert head() == store.jobs.create(other, spec())
    assert {JOB: head()} == store.jobs.heads([JOB])


def test_a_change_needs_the_expected_generation(store: Store) -> None:
    store.jobs.insert([(head(), spec())])

    assert store.jobs.change(head(generation=2), spec(generation=2), expected_generation=1)
    assert not store.jobs.change(replace(head(generation=2), reason="late"), None, expected_generation=1)

    assert {JOB: head(generation=2)} == store.jobs.heads([JOB])
    assert {(JOB, 1): spec(), (JOB, 2): spec(generation=2)} == store.jobs.specs([(JOB, 1), (JOB, 2)])


def test_a_change_without_a_spec_makes_none(store: Store) -> None:
    store.jobs.insert([(head(), spec())])

    assert store.jobs.change(head(generation=2, status=Status.DISABLED), None, expected_generation=1)

    assert {} == store.jobs.specs([(JOB, 2)])


def test_a_repeated_change_is_a_success(store: Store) -> None:
    store.jobs.insert([(head(), spec())])
    edited = replace(head(generation=2), tags={"env": "b", "team": "a"})
    assert store.jobs.change(edited, spec(generation=2), expected_generation=1)
    assert store.jobs.set_live_run(JOB, expected=None, run_id="run-1")

    again = replace(edited, tags={"team": "a", "env": "b"})
    assert store.jobs.change(again, spec(generation=2), expected_generation=1)


def test_a_job_that_is_not_there_cannot_be_changed(store: Store) -> None:
    assert not store.jobs.change(head(generation=2), spec(generation=2), expected_generation=1)
    assert not store.jobs.set_live_run(JOB, expected=None, run_id="run-1")
    assert {} == store.jobs.heads([JOB])
    assert {} == store.jobs.specs([(JOB, 2)])


def test_the_loser_of_two_edits_leaves_no_spec(store: Store) -> None:
    store.jobs.insert([(head(), spec())])
    winner, loser = spec(generation=2, params=b'{"a": 1}'), spec(generation=2, params=b'{"a": 2}')
    assert store.jobs.change(head(generation=2), winner, expected_generation=1)

    assert not store.jobs.change(replace(head(generation=2), reason="other"), loser, expected_generation=1)

    assert {(JOB, 2): winner} == store.jobs.specs([(JOB, 2)])


def test_a_change_keeps_the_live_run(store: Store) -> None:
    store.jobs.insert([(head(), spec())])
    assert store.jobs.set_live_run(JOB, expected=None, run_id="run-1")

    assert store.jobs.change(head(generation=2), None, expected_generation=1)

    assert {JOB: replace(head(generation=2), live_run="run-1")} == store.jobs.heads([JOB])


def test_the_live_run_changes_from_the_expected_one_only(store: Store) -> None:
    store.jobs.insert([(head(), spec())])

    assert store.jobs.set_live_run(JOB, expected=None, run_id="run-1")
    assert not store.jobs.set_live_run(JOB, expected=None, run_id="run-2")
    assert store.jobs.set_live_run(JOB, expected=None, run_id="run-1")
    assert "run-1" == store.jobs.heads([JOB])[JOB].live_run

    assert not store.jobs.set_live_run(JOB, expected="run-2", run_id=None)
    assert store.jobs.set_live_run(JOB, expected="run-1", run_id=None)
    assert store.jobs.set_live_run(JOB, expected="run-1", run_id=None)
    assert head() == store.jobs.heads([JOB])[JOB]


def test_of_two_edits_of_one_generation_exactly_one_wins(store: Store) -> None:
    store.jobs.insert([(head(), spec())])

    def edit(name: str, generation: int) -> bool:
        edited = replace(head(generation=generation + 1), name=name)
        return store.jobs.change(edited, None, expected_generation=generation)

    assert [1] * 20 == _race(lambda name, n: edit(name, n + 1))
    assert 21 == store.jobs.heads([JOB])[JOB].generation


def test_of_two_runs_exactly_one_becomes_the_live_run(store: Store) -> None:
    ids = job_ids(20)
    store.jobs.insert([(head(job_id), spec(job_id)) for job_id in ids])

    assert [1] * 20 == _race(lambda name, n: store.jobs.set_live_run(ids[n], expected=None, run_id=name))


def test_a_shard_is_scanned_in_the_order_of_ids(store: Store) -> None:
    ids = job_ids(5)
    store.jobs.insert([(head(job_id), spec(job_id)) for job_id in [*reversed(ids), *job_ids(2, shard=0)]])
    assert store.jobs.change(head(ids[1], generation=2, status=Status.DELETED), None, expected_generation=1)

    assert ids[:3] == _ids(store.jobs.scan(SHARD, after="", limit=3))
    assert ids[3:] == _ids(store.jobs.scan(SHARD, after=ids[2], limit=3))
    assert [] == store.jobs.scan(SHARD, after=ids[4], limit=3)


def test_an_owner_s_jobs_come_newest_first_without_the_deleted(store: Store) -> None:
    ids = sorted(job_id for shard in range(4) for job_id in job_ids(2, shard=shard))
    store.jobs.insert([(head(job_id), spec(job_id)) for job_id in ids[:-1]])
    store.jobs.insert([(head(ids[-1], owner="bob"), spec(ids[-1]))])
    assert store.jobs.change(head(ids[2], generation=2, status=Status.DELETED), None, expected_generation=1)
    assert store.jobs.change(head(ids[3], generation=2, status=Status.DISABLED), None, expected_generation=1)

    newest = [ids[n] for n in (6, 5, 4, 3, 1, 0)]
    assert newest[:4] == _ids(store.jobs.of_owner("ann", before="", limit=4))
    assert newest[4:] == _ids(store.jobs.of_owner("ann", before=newest[3], limit=4))
    assert [ids[-1]] == _ids(store.jobs.of_owner("bob", before="", limit=4))
    assert [] == store.jobs.of_owner("eve", before="", limit=4)


def test_a_name_belongs_to_the_first_who_takes_it(store: Store) -> None:
    assert "a" == store.jobs.take_name("ann", "nightly", "a")
    assert "a" == store.jobs.take_name("ann", "nightly", "b")
    assert "a" == store.jobs.take_name("ann", "nightly", "a")
    assert "b" == store.jobs.take_name("bob", "nightly", "b")

    assert ("a", "b", None) == (
        store.jobs.by_name("ann", "nightly"),
        store.jobs.by_name("bob", "nightly"),
        store.jobs.by_name("ann", "Nightly"),
    )


def test_only_its_own_job_frees_a_name(store: Store) -> None:
    store.jobs.take_name("ann", "nightly \u2603 'x'", "a")

    store.jobs.drop_name("ann", "nightly \u2603 'x'", "b")
    assert "a" == store.jobs.by_name("ann", "nightly \u2603 'x'")

    store.jobs.drop_name("ann", "nightly \u2603 'x'", "a")
    assert store.jobs.by_name("ann", "nightly \u2603 'x'") is None
    assert "b" == store.jobs.take_name("ann", "nightly \u2603 'x'", "b")


def test_of_two_who_take_a_name_both_hear_the_same_winner(store: Store) -> None:
    heard: dict[str, list[str]] = {"one": [], "other": []}

    _race(lambda name, n: bool(heard[name].append(store.jobs.take_name("ann", f"name {n}", name))))

    assert heard["one"] == heard["other"]


def test_intents_are_found_by_minute_until_they_are_forgotten(store: Store) -> None:
    create = Intent(minute=7, job_id="a", owner="ann", generation=1, name="n")
    edit = Intent(minute=7, job_id="a", owner="ann", generation=2, name="m", old_name="n")
    later = Intent(minute=8, job_id="b", owner="ann", generation=1)
    store.jobs.intend([create, edit, later])
    store.jobs.intend([create])
    store.jobs.intend([])

    assert [create, edit] == sorted(store.jobs.intents(7), key=lambda one: one.generation)

    store.jobs.forget_intents([create, later])
    store.jobs.forget_intents([create])
    store.jobs.forget_intents([])
    assert [edit] == store.jobs.intents(7)
    assert [] == store.jobs.intents(8)


def _ids(heads: list[Head]) -> list[str]:
    return [one.job_id for one in heads]


def _race(attempt: Callable[[str, int], bool], rounds: int = 20) -> list[int]:
    """Let two threads attempt the same thing at the same time; return how many succeeded in each round."""
    together = threading.Barrier(2)

    def run(name: str) -> list[bool]:
        won: list[bool] = []
        for number in range(rounds):
            together.wait(10)
            won.append(attempt(name, number))
            together.wait(10)
        return won

    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(run, ["one", "other"])
    return [int(a) + int(b) for a, b in zip(one, other, strict=True)]
