"""Bearer tokens: random text that is shown once; only its digest is kept."""

from __future__ import annotations

import hashlib
import secrets

from chronoshard.domain.access import Role, Token

PREFIX = "csd_"


def new_token(*, owner: str, role: Role, now_ms: int, expires_ms: int | None = None) -> tuple[str, Token]:
    """Return the text to hand out and what is kept of it."""
    text = PREFIX + secrets.token_urlsafe(32)
    token = Token(
        token_id=secrets.token_hex(8),
        digest=digest_of(text),
        owner=owner,
        role=role,
        created_ms=now_ms,
        expires_ms=expires_ms,
    )
    return text, token


def digest_of(text: str) -> str:
    """Return the digest under which a token is kept. Its text is random enough to need no salt."""
    return hashlib.sha256(text.encode()).hexdigest()
