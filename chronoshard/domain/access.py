"""Who may do what: tokens and their roles, kept answers, the audit log."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Role(StrEnum):
    """A viewer reads everything of its owner, a user also writes, an operator acts for all."""

    VIEWER = "viewer"
    USER = "user"
    OPERATOR = "operator"


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a bearer token: never the token, only the SHA-256 of it."""

    token_id: str
    digest: str
    owner: str
    role: Role
    created_ms: int
    expires_ms: int | None = None

    def is_valid(self, now_ms: int) -> bool:
        return self.expires_ms is None or now_ms < self.expires_ms


class KeptAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What was answered to a write under an idempotency key. `status` 0: it is still under way."""

    scope: str  # owner, method and path
    key: str
    body_hash: str
    taken_ms: int
    status: int = 0
    headers: dict[str, str] = {}
    body: bytes = b""


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    at_ms: int
    actor: str
    action: str
    subject: str
    detail: str = ""
