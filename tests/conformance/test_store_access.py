"""Tokens, idempotency keys, the audit log, settings."""

from __future__ import annotations

from msgspec.structs import replace
from store_values import DUE_MS

from chronoshard.domain.access import AuditEntry, KeptAnswer, Role, Token
from chronoshard.ports import Store

TAKEN = KeptAnswer(scope="ann POST /jobs", key="k", body_hash="h", taken_ms=DUE_MS, headers={"x-holder": "me"})
ANSWER = replace(TAKEN, status=201, headers={"etag": '"1"'}, body=b'{"job_id": "\xc3\xbc"}\x00\xff')


def token(name: str = "a", *, expires_ms: int | None = None) -> Token:
    return Token(
        token_id=name,
        digest=f"sha of {name}",
        owner="ann",
        role=Role.OPERATOR,
        created_ms=DUE_MS,
        expires_ms=expires_ms,
    )


def test_tokens_are_found_by_their_digest(store: Store) -> None:
    for one in (token(), token("b", expires_ms=DUE_MS + 1)):
        store.access.put_token(one)

    assert [token(), token("b", expires_ms=DUE_MS + 1)] == sorted(
        store.access.tokens(), key=lambda one: one.token_id
    )
    assert token() == store.access.token_by_hash("sha of a")
    assert store.access.token_by_hash("sha of c") is None


def test_a_revoked_token_is_gone(store: Store) -> None:
    store.access.put_token(token())

    assert store.access.revoke_token("a")
    assert not store.access.revoke_token("a")
    assert store.access.token_by_hash("sha of a") is None
    assert [] == store.access.tokens()


def test_a_key_is_the_first_one_s(store: Store) -> None:
    later = replace(TAKEN, body_hash="other", taken_ms=DUE_MS + 5)

    assert store.access.take_key(TAKEN) is None
    assert TAKEN == store.access.take_key(later)


def test_keys_of_other_scopes_are_other_keys(store: Store) -> None:
    assert store.access.take_key(TAKEN) is None
    assert store.access.take_key(replace(TAKEN, scope="bob POST /jobs")) is None
    assert store.access.take_key(replace(TAKEN, key="l")) is None


def test_an_answer_that_is_kept_is_what_the_key_gives(store: Store) -> None:
    store.access.take_key(TAKEN)

    store.access.keep_answer(ANSWER)

    assert ANSWER == store.access.take_key(TAKEN)


def test_a_key_that_is_given_back_may_be_taken_again(store: Store) -> None:
    store.access.take_key(TAKEN)

    store.access.free_key(TAKEN)

    assert store.access.take_key(replace(TAKEN, taken_ms=DUE_MS + 5)) is None


def test_a_kept_answer_is_not_given_back(store: Store) -> None:
    store.access.take_key(TAKEN)
    store.access.keep_answer(ANSWER)

    store.access.free_key(TAKEN)

    assert ANSWER == store.access.take_key(TAKEN)


def test_who_lost_the_key_neither_frees_nor_answers_for_the_next(store: Store) -> None:
    """A frozen process comes back after its reservation was taken over."""
    next_one = replace(TAKEN, taken_ms=DUE_MS + 5)
    store.access.take_key(TAKEN)
    store.access.free_key(TAKEN)
    store.access.take_key(next_one)

    store.access.free_key(TAKEN)
    store.access.keep_answer(ANSWER)

    assert next_one == store.access.take_key(TAKEN)


def test_the_audit_log_is_read_newest_first(store: Store) -> None:
    entries = [
        AuditEntry(at_ms=DUE_MS, actor="ann", action="drain", subject=f"executor {n}", detail="\u2603")
        for n in range(3)
    ]
    for entry in entries:
        store.access.audit(entry)

    assert [entries[2], entries[1]] == store.access.audit_log(2)
    assert 3 == len(store.access.audit_log(10))


def test_a_setting_is_what_was_set_last(store: Store) -> None:
    assert {} == store.access.settings()

    store.access.set_setting("a", "1")
    store.access.set_setting("b", "\u2603 '")
    store.access.set_setting("a", "2")

    assert {"a": "2", "b": "\u2603 '"} == store.access.settings()
