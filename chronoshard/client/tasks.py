"""Uploading code. The same content has the same id, so that repeating an upload changes nothing."""

from __future__ import annotations

from urllib.parse import quote

from chronoshard.client.transport import Json, Transport


class Tasks:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def upload(self, runtime: str, content: bytes, *, name: str = "task", key: str | None = None) -> Json:
        """Store a file's bytes, whatever they are; return `{task_id, runtime, size, created_at}`."""
        answer: Json = self._transport.write(
            "POST", "tasks", key=key, files={"file": (name, content)}, form={"runtime": runtime}
        ).json()
        return answer

    def get(self, task_id: str) -> Json:
        """Return what is known of stored code: not the code itself."""
        answer: Json = self._transport.get(f"tasks/{quote(task_id, safe=':')}").json()
        return answer

    def create(self, runtime: str, source: str, *, key: str | None = None) -> Json:
        """Store a source text; return `{task_id, runtime, size, created_at}`."""
        body = {"runtime": runtime, "source": source}
        answer: Json = self._transport.write("POST", "tasks", body, key=key).json()
        return answer
