"""Who asks, and whether the role allows it.

Tokens are kept as SHA-256 only. The owner comes from the token and from nowhere else (invariant 12).
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from chronoshard.api.context import Context
from chronoshard.api.memory import TOKEN_S
from chronoshard.domain.access import Role, Token
from chronoshard.errors import Forbidden, Unauthorized

OPEN_PATHS = frozenset({"/healthz", "/readyz", "/version", "/openapi.json", "/docs", "/docs/oauth2-redirect"})
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_READING_POSTS = frozenset({"/api/v1/schedules/preview", "/rpc"})  # RPC: each of its methods looks by itself
_RANK = {Role.VIEWER: 0, Role.USER: 1, Role.OPERATOR: 2}
_BEARER = re.compile(r"bearer +([\x21-\x7e]{1,500}) *", re.IGNORECASE)


class Caller(NamedTuple):
    """Whose token came with a request. `token_id` names it in the audit log."""

    owner: str
    role: Role
    token_id: str

    def may(self, role: Role) -> bool:
        return _RANK[self.role] >= _RANK[role]

    def require(self, role: Role) -> None:
        if not self.may(role):
            raise Forbidden(
                f"this needs a token of role {role.value}, yours is {self.role.value}",
                hint="ask an operator for another token",
            )

    def sees(self, owner: str) -> bool:
        """Say whether the caller may know of what belongs to `owner`. An operator acts for all."""
        return self.owner == owner or self.role is Role.OPERATOR


NOBODY = Caller("", Role.VIEWER, "")


def digest_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def needed_role(method: str, path: str) -> Role | None:
    """Return the role that a request needs; None: not even a token."""
    if path in OPEN_PATHS:
        return None
    if path == "/api/v1/admin" or path.startswith("/api/v1/admin/"):
        return Role.OPERATOR
    return Role.VIEWER if method in _READING or path in _READING_POSTS else Role.USER


def authorize(
    context: Context, method: str, path: str, authorization: str, *, only_remembered: bool
) -> Caller | None:
    """Return the caller; None: the store has to be asked. Raises Unauthorized, Forbidden, Unavailable."""
    role = needed_role(method, path)
    if role is None:
        return NOBODY
    match = _BEARER.fullmatch(authorization)
    if match is None:
        raise Unauthorized(
            "this needs a token", hint="send it as `Authorization: Bearer TOKEN`, or set CHRONOSHARD_TOKEN"
        )
    token = _token(context, digest_of(match[1]), only_remembered)
    if token is None:
        return None
    caller = Caller(token.owner, token.role, token.token_id)
    caller.require(role)
    return caller


def _token(context: Context, digest: str, only_remembered: bool) -> Token | None:
    now_s = context.clock.monotonic_s()
    remembered = context.memory.tokens.get(digest)
    token = remembered[0] if remembered is not None and now_s < remembered[1] else None
    if token is None:
        if only_remembered:
            return None
        token = context.store.access.token_by_hash(digest)
        if token is None:
            raise Unauthorized("this token is unknown or was revoked", hint="ask an operator for another one")
        context.memory.tokens.put(digest, (token, now_s + TOKEN_S))
    if not token.is_valid(context.clock.now_ms()):
        raise Unauthorized("this token has expired", hint="ask an operator for another one")
    return token
