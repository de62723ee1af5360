"""Every error that chronoshard raises on purpose.

    ChronoshardError
      +-- InvalidInput      what was asked for cannot be: names the field (JSON pointer) and the way out
      +-- TooLarge          over a limit of size
      +-- TooMany           over a limit of rate or number, try later
      +-- Unauthorized      no token, or one that is unknown, revoked or expired
      +-- Forbidden         the token's role does not allow it
      +-- NotFound          no such thing, or it is somebody else's
      +-- Conflict          the state it is in forbids it, or the name is taken
      +-- StaleVersion      it has changed since it was read
      +-- Unavailable       a store, broker or coordinator does not answer: the same request again is safe
      |     +-- OutcomeUnknown   a write was sent and may or may not have happened: repeat it, same token
      +-- TermOver          an order of a master whose term has ended
      +-- LinkError         between an orchestrator and an executor
            +-- LinkRefused      it answered no, or nothing listens there: it certainly did not start anything
            +-- LinkTimeout      no answer: it may have done what was asked

`code` is stable and part of the contract; the api and the CLI translate the class, each in one place.
"""

from __future__ import annotations


class ChronoshardError(Exception):
    """`detail` is a sentence for people, `code` a stable name for programs, `hint` the next step."""

    default_code = "internal"

    def __init__(
        self, detail: str, *, code: str | None = None, pointer: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or self.default_code
        self.pointer = pointer
        self.hint = hint
        self.fields: tuple[tuple[str, str], ...] = ()  # (JSON pointer, what is wrong there), if several are
        self.request_id: str | None = None  # of the request that it answers, where a server has said so


class InvalidInput(ChronoshardError):
    default_code = "input.invalid"


class TooLarge(ChronoshardError):
    default_code = "limit.size"


class TooMany(ChronoshardError):
    default_code = "limit.rate"


class Unauthorized(ChronoshardError):
    default_code = "auth.token"


class Forbidden(ChronoshardError):
    default_code = "auth.role"


class NotFound(ChronoshardError):
    default_code = "not_found"


class Conflict(ChronoshardError):
    default_code = "conflict"


class StaleVersion(ChronoshardError):
    default_code = "conflict.stale"


class Unavailable(ChronoshardError):
    default_code = "unavailable"


class OutcomeUnknown(Unavailable):
    default_code = "unavailable.unknown_outcome"


class TermOver(ChronoshardError):
    default_code = "term.over"


class LinkError(ChronoshardError):
    default_code = "link"


class LinkRefused(LinkError):
    default_code = "link.refused"


class LinkTimeout(LinkError):
    default_code = "link.timeout"
