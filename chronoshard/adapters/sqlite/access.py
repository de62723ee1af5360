"""Tokens, kept answers, the audit log and settings in SQLite: see ports.Access."""

from __future__ import annotations

import sqlite3

from chronoshard.adapters.sqlite.database import Database
from chronoshard.adapters.sqlite.query import Query, array, as_body
from chronoshard.domain.access import AuditEntry, KeptAnswer, Token

_TOKENS = Query(f"SELECT {array('body')} FROM tokens", list[Token])
_TOKEN = Query(f"SELECT {array('body')} FROM tokens WHERE digest = :digest", list[Token])
_ANSWER = Query(
    f"SELECT {array('body')} FROM answers WHERE scope = :scope AND idempotency_key = :key",
    list[KeptAnswer],
)
_TAKE = """INSERT OR IGNORE INTO answers (scope, idempotency_key, body_hash, taken_ms, status, body)
    VALUES (:scope, :key, :body_hash, :taken_ms, :status, :body)"""
_KEEP = """UPDATE answers SET status = :status, body = :body
    WHERE scope = :scope AND idempotency_key = :key AND body_hash = :body_hash AND taken_ms = :taken_ms"""
_FREE = """DELETE FROM answers WHERE scope = :scope AND idempotency_key = :key AND status = 0
    AND body_hash = :body_hash AND taken_ms = :taken_ms"""
_AUDIT_LOG = Query(
    f"SELECT {array('body')} FROM (SELECT body FROM audit_log ORDER BY id DESC LIMIT :limit)",
    list[AuditEntry],
)
_SETTINGS = Query("SELECT json_group_array(json_array(key, value)) FROM settings", list[tuple[str, str]])


class SqliteAccess:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put_token(self, token: Token) -> None:
        self._database.execute(
            "INSERT OR REPLACE INTO tokens (token_id, digest, body) VALUES (:token_id, :digest, :body)",
            {"token_id": token.token_id, "digest": token.digest, "body": as_body(token)},
        )

    def tokens(self) -> list[Token]:
        return self._database.ask(_TOKENS)

    def token_by_hash(self, digest: str) -> Token | None:
        found = self._database.ask(_TOKEN, {"digest": digest})
        return found[0] if found else None

    def revoke_token(self, token_id: str) -> bool:
        return self._database.execute("DELETE FROM tokens WHERE token_id = :id", {"id": token_id}) > 0

    def take_key(self, answer: KeptAnswer) -> KeptAnswer | None:
        def take(connection: sqlite3.Connection) -> KeptAnswer | None:
            """Take or look in one: a key that is freed in between would be nobody's."""
            if connection.execute(_TAKE, _cells(answer)).rowcount:
                return None
            [kept] = _ANSWER.run(connection, {"scope": answer.scope, "key": answer.key})
            return kept

        return self._database.write(take)

    def keep_answer(self, answer: KeptAnswer) -> None:
        self._database.execute(_KEEP, _cells(answer))

    def free_key(self, answer: KeptAnswer) -> None:
        self._database.execute(_FREE, _cells(answer))

    def audit(self, entry: AuditEntry) -> None:
        self._database.execute("INSERT INTO audit_log (body) VALUES (:body)", {"body": as_body(entry)})

    def audit_log(self, limit: int) -> list[AuditEntry]:
        return self._database.ask(_AUDIT_LOG, {"limit": limit})

    def settings(self) -> dict[str, str]:
        return dict(self._database.ask(_SETTINGS))

    def set_setting(self, key: str, value: str) -> None:
        self._database.execute(
            "INSERT OR REPLACE INTO settings VALUES (:key, :value)", {"key": key, "value": value}
        )


def _cells(answer: KeptAnswer) -> dict[str, object]:
    return {
        "scope": answer.scope,
        "key": answer.key,
        "body_hash": answer.body_hash,
        "taken_ms": answer.taken_ms,
        "status": answer.status,
        "body": as_body(answer),
    }
