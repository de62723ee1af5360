"""How much may run here, and who has been promised how much of it.

A reservation holds slots for a few seconds, so that nothing is claimed that cannot start, and so that a start
which arrives too late is refused (its claim may have moved on). Pure: the caller holds the lock and passes time.
"""

from __future__ import annotations

from dataclasses import dataclass

from chronoshard.link import RESERVATION_S


@dataclass(slots=True)
class _Reservation:
    slots: int
    until_s: float


class Slots:
    """Counts what is free, reserved and taken of `total`. Times are monotonic seconds."""

    def __init__(self, total: int) -> None:
        self.total = total
        self._taken = 0
        self._reservations: dict[str, _Reservation] = {}

    def free(self, now_s: float) -> int:
        """Return how many slots are neither taken nor reserved."""
        for name, reservation in list(self._reservations.items()):
            if reservation.until_s <= now_s:
                del self._reservations[name]
        held = sum(reservation.slots for reservation in self._reservations.values())
        return max(0, self.total - self._taken - held)

    def reserve(self, name: str, slots: int, *, now_s: float) -> int:
        """Hold up to `slots` under a fresh name for RESERVATION_S; return how many it is."""
        granted = min(slots, self.free(now_s))
        if granted > 0:
            self._reservations[name] = _Reservation(granted, now_s + RESERVATION_S)
        return max(granted, 0)

    def renew(self, name: str, *, now_s: float) -> bool:
        """Hold it for another RESERVATION_S; False when it has run out."""
        reservation = self._reservations.get(name)
        if reservation is None or reservation.until_s <= now_s:
            return False
        reservation.until_s = now_s + RESERVATION_S
        return True

    def release(self, name: str) -> None:
        self._reservations.pop(name, None)

    def release_all(self) -> None:
        self._reservations.clear()

    def take(self, name: str, *, now_s: float) -> bool:
        """Turn one reserved slot into a taken one; False when there is none under this name."""
        reservation = self._reservations.get(name)
        if reservation is None or reservation.until_s <= now_s or reservation.slots == 0:
            return False
        reservation.slots -= 1
        self._taken += 1
        return True

    def give_back(self, slots: int = 1) -> None:
        """Free what was taken."""
        self._taken -= slots
