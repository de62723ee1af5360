"""What operators see and do."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from chronoshard.client.pages import items_of
from chronoshard.client.transport import Json, Transport


class Admin:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def tokens(self, *, limit: int | None = None) -> Iterator[Json]:
        return items_of(self._transport, "admin/tokens", {}, limit=limit)

    def create_token(
        self, owner: str, role: str, *, expires_at: str | None = None, key: str | None = None
    ) -> Json:
        """Return the new token: the only time that it is shown."""
        body = {"owner": owner, "role": role, **({"expires_at": expires_at} if expires_at else {})}
        answer: Json = self._transport.write("POST", "admin/tokens", body, key=key).json()
        return answer

    def revoke_token(self, token_id: str, *, key: str | None = None) -> None:
        self._transport.write("DELETE", f"admin/tokens/{quote(token_id, safe='')}", key=key)

    def nodes(self, *, limit: int | None = None) -> Iterator[Json]:
        return items_of(self._transport, "admin/nodes", {}, limit=limit)

    def shards(self, *, limit: int | None = None) -> Iterator[Json]:
        return items_of(self._transport, "admin/shards", {}, limit=limit)

    def minutes(
        self, *, from_: str | None = None, to: str | None = None, limit: int | None = None
    ) -> Iterator[Json]:
        """Yield the ledger's marks between two RFC 3339 times; of the last hour without."""
        return items_of(self._transport, "admin/minutes", {"from": from_, "to": to}, limit=limit)

    def queues(self, *, limit: int | None = None) -> Iterator[Json]:
        return items_of(self._transport, "admin/queues", {}, limit=limit)

    def audit(self, *, limit: int | None = None) -> Iterator[Json]:
        """Yield the changes that operators made, newest first."""
        return items_of(self._transport, "admin/audit", {}, limit=limit)

    def drain(self, executor: str, *, key: str | None = None) -> Json:
        return self._act(f"admin/executors/{quote(executor, safe='')}/drain", key)

    def undrain(self, executor: str, *, key: str | None = None) -> Json:
        return self._act(f"admin/executors/{quote(executor, safe='')}/undrain", key)

    def setting(self, name: str) -> Json:
        answer: Json = self._transport.get(f"admin/settings/{quote(name, safe='')}").json()
        return answer

    def change_setting(self, name: str, value: object, *, key: str | None = None) -> Json:
        path = f"admin/settings/{quote(name, safe='')}"
        answer: Json = self._transport.write("PUT", path, {"value": value}, key=key).json()
        return answer

    def verify(self, *, from_: str | None = None, to: str | None = None) -> Json:
        """Return the ledger's account of everything that was due between two RFC 3339 times."""
        answer: Json = self._transport.get("admin/verify", {"from": from_, "to": to}).json()
        return answer

    def doctor(self) -> Json:
        """Return the server's checks of itself: `{items: [{check, ok, detail, advice}]}`."""
        answer: Json = self._transport.get("admin/doctor").json()
        return answer

    def _act(self, path: str, key: str | None) -> Json:
        answer: Json = self._transport.write("POST", path, key=key).json()
        return answer
