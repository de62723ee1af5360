"""What orchestrators reach of an executor: its present life, whichever that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chronoshard.domain.identity import AttemptKey
from chronoshard.executor.life import Life
from chronoshard.link import Fence, Grant, Pong, ReserveRequest, StartAnswer, StartOrder, Stream, Tail


class Served:
    """An ExecutorLink."""

    def __init__(self, executor: str, life: Callable[[], Life]) -> None:
        self._executor = executor
        self._life = life

    def reserve(self, request: ReserveRequest) -> Grant:
        return self._life().reserve(request)

    def renew(self, reservation: str) -> bool:
        return self._life().renew(reservation)

    def release(self, reservation: str) -> None:
        self._life().release(reservation)

    def start(self, reservation: str, orders: Sequence[StartOrder]) -> list[StartAnswer]:
        return self._life().start(reservation, orders)

    def fence(self, incarnation: str, keys: Sequence[AttemptKey]) -> list[Fence]:
        return self._life().fence(incarnation, keys)

    def kill(self, incarnation: str, keys: Sequence[AttemptKey], reason: str) -> None:
        self._life().kill(incarnation, keys, reason)

    def tail(self, key: AttemptKey, stream: Stream, offset: int, limit: int) -> Tail | None:
        return self._life().tail(key, stream, offset, limit)

    def ping(self) -> Pong:
        life = self._life()
        return Pong(self._executor, life.incarnation, life.free(), life.draining)
