"""The paths of operators, whoami, and previews. An operator's changes leave a row in the audit log."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request, Response

from chronoshard.api import doctor, nodes, verify
from chronoshard.api.answers import answer, caller_of, context_of
from chronoshard.api.documents import Document
from chronoshard.api.fields import TimeField
from chronoshard.api.idempotency import Route
from chronoshard.api.pagination import DEFAULT_LIMIT, MAX_LIMIT, sliced
from chronoshard.api.previewing import preview
from chronoshard.api.requests import PreviewBody, SettingBody, TokenBody
from chronoshard.api.text import optional_rfc3339, rfc3339
from chronoshard.domain.access import AuditEntry, Role, Token
from chronoshard.errors import InvalidInput, NotFound
from chronoshard.settings import Settings
from chronoshard.tokens import new_token

router = APIRouter(prefix="/api/v1", tags=["admin"], route_class=Route, strict_content_type=False)

Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT)]
From = Annotated[TimeField | None, Query(alias="from")]


@router.get("/whoami", tags=["access"])
def whoami(request: Request) -> Response:
    """Say whose token this is."""
    caller = caller_of(request)
    return answer({"owner": caller.owner, "role": caller.role.value, "token_id": caller.token_id})


@router.post("/schedules/preview", tags=["schedules"])
def preview_schedule(request: Request, body: PreviewBody) -> Response:
    """Say in words and in times what a trigger means."""
    return answer(preview(body, now_ms=context_of(request).clock.now_ms()))


@router.get("/admin/tokens")
def list_tokens(request: Request, limit: Limit = DEFAULT_LIMIT, cursor: str | None = None) -> Response:
    """List the tokens, without what they are."""
    found = sorted(context_of(request).store.access.tokens(), key=lambda token: (token.created_ms, token.token_id))
    return answer(sliced([_token(token) for token in found], cursor, limit))


@router.post("/admin/tokens", status_code=201)
def create_token(request: Request, body: TokenBody) -> Response:
    """Make a token. It is in this answer and nowhere else."""
    context = context_of(request)
    now_ms = context.clock.now_ms()
    if body.expires_at is not None and body.expires_at <= now_ms:
        raise InvalidInput("this time has passed", code="token.expired", pointer="/expires_at")
    text, token = new_token(owner=body.owner, role=Role(body.role), now_ms=now_ms, expires_ms=body.expires_at)
    context.store.access.put_token(token)
    _audit(request, "token.create", token.token_id, f"{body.role} of {body.owner}")
    return answer({**_token(token), "token": text}, 201, {"Cache-Control": "no-store"})


@router.delete("/admin/tokens/{token_id}")
def revoke_token(request: Request, token_id: str) -> Response:
    """Take a token back; other servers forget it within a second."""
    context = context_of(request)
    if not context.store.access.revoke_token(token_id):
        raise NotFound(f"there is no token {token_id[:80]!r}", code="token.not_found")
    context.memory.tokens.clear()
    _audit(request, "token.revoke", token_id)
    return answer({"token_id": token_id, "status": "revoked"})


@router.get("/admin/nodes")
def list_nodes(request: Request, limit: Limit = DEFAULT_LIMIT, cursor: str | None = None) -> Response:
    """List the live parts and the executors."""
    return answer(sliced(nodes.nodes(context_of(request)), cursor, limit))


@router.get("/admin/shards")
def list_shards(request: Request, limit: Limit = DEFAULT_LIMIT, cursor: str | None = None) -> Response:
    """List the shards and who has them."""
    return answer(sliced(nodes.shards(context_of(request)), cursor, limit))


@router.get("/admin/minutes")
def list_minutes(
    request: Request,
    from_: From = None,
    to: TimeField | None = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: str | None = None,
) -> Response:
    """List the ledger's marks of each minute and shard; of the last hour without bounds."""
    return answer(sliced(nodes.minutes(context_of(request), from_ms=from_, to_ms=to), cursor, limit))


@router.get("/admin/queues")
def list_queues(request: Request, limit: Limit = DEFAULT_LIMIT, cursor: str | None = None) -> Response:
    """List the queues in which something waits."""
    return answer(sliced(nodes.queues(context_of(request)), cursor, limit))


@router.post("/admin/executors/{executor}/drain")
def drain(request: Request, executor: str) -> Response:
    """Give an executor nothing new; what it runs goes on."""
    return _set_drain(request, executor, True)


@router.post("/admin/executors/{executor}/undrain")
def undrain(request: Request, executor: str) -> Response:
    """Give an executor work again."""
    return _set_drain(request, executor, False)


@router.get("/admin/settings/{key}")
def get_setting(request: Request, key: str) -> Response:
    """Return a setting: what an operator set, otherwise what the server was started with."""
    context = context_of(request)
    default = _default(context.settings, key)
    kept = context.store.access.settings().get(key)
    value = default if kept is None else msgspec.json.decode(kept)
    return answer({"key": key, "value": value, "running": default})


@router.put("/admin/settings/{key}")
def put_setting(request: Request, key: str, body: SettingBody) -> Response:
    """Keep a setting. Parts read theirs when they start."""
    context = context_of(request)
    default = _default(context.settings, key)
    try:
        value = msgspec.convert(body.value, type=_kind(key))
    except msgspec.ValidationError as error:
        raise InvalidInput(str(error), code="setting.value", pointer="/value") from error
    if isinstance(value, int) and value < 1:
        raise InvalidInput("a setting is at least 1", code="setting.value", pointer="/value")
    if key == "shards" and value != default:
        raise InvalidInput("`shards` is fixed when a system is installed", code="setting.fixed", pointer="/value")
    context.store.access.set_setting(key, msgspec.json.encode(value).decode())
    _audit(request, "setting.put", key, f"{default!r} at start, now {value!r}")
    return answer({"key": key, "value": value, "running": default})


@router.get("/admin/verify")
def get_verify(request: Request, from_: From = None, to: TimeField | None = None) -> Response:
    """Account for everything that was due in a window."""
    context = context_of(request)
    return answer(verify.verify(context, verify.window_of(context, from_, to)))


@router.get("/admin/doctor")
def get_doctor(request: Request) -> Response:
    """Look at everything that the system needs."""
    return answer({"items": doctor.examine(context_of(request)), "next_cursor": None})


@router.get("/admin/audit")
def list_audit(request: Request, limit: Limit = DEFAULT_LIMIT) -> Response:
    """Return the newest changes that operators made."""
    found = context_of(request).store.access.audit_log(limit)
    items = [
        {
            "at_time": rfc3339(entry.at_ms),
            "actor": entry.actor,
            "action": entry.action,
            "subject": entry.subject,
            "detail": entry.detail,
        }
        for entry in found
    ]
    return answer({"items": items, "next_cursor": None})


def _token(token: Token) -> Document:
    return {
        "token_id": token.token_id,
        "owner": token.owner,
        "role": token.role.value,
        "created_at": rfc3339(token.created_ms),
        "expires_at": optional_rfc3339(token.expires_ms),
    }


def _set_drain(request: Request, executor: str, draining: bool) -> Response:
    executors = context_of(request).store.executors
    if executor not in {beat.executor for beat in executors.beats()} | executors.draining():
        raise NotFound(f"there is no executor {executor[:80]!r}", code="executor.not_found")
    executors.set_drain(executor, draining)
    _audit(request, "executor.drain" if draining else "executor.undrain", executor)
    return answer({"name": executor, "draining": draining})


def _default(settings: Settings, key: str) -> Any:
    if key not in Settings.__struct_fields__:
        known = ", ".join(sorted(Settings.__struct_fields__))
        raise NotFound(f"there is no setting {key[:80]!r}", code="setting.not_found", hint=f"one of {known}")
    return getattr(settings, key)


def _kind(key: str) -> Any:
    return next(field.type for field in msgspec.structs.fields(Settings) if field.name == key)


def _audit(request: Request, action: str, subject: str, detail: str = "") -> None:
    context, caller = context_of(request), caller_of(request)
    actor = f"{caller.owner} ({caller.token_id})"
    context.store.access.audit(
        AuditEntry(at_ms=context.clock.now_ms(), actor=actor, action=action, subject=subject, detail=detail)
    )
