"""The one place where errors become words on stderr and exit codes.

error[cron.fields]: "20 * * *" has 4 fields, needs 5
  where: --cron
  why:   the server refused it (request 5f0c)
  next:  add the field for the weekday: "20 * * * *"
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from chronoshard import errors
from chronoshard.cli.table import printable


class Exit(IntEnum):
    """The contract with scripts. 130 and 141 are the shell's own, for Ctrl-C and a closed pipe."""

    OK = 0
    FAILED = 1  # the thing asked about failed: wait, verify, doctor, diff
    USAGE = 2
    NOT_FOUND = 3
    CONFLICT = 4
    UNREACHABLE = 5
    NOT_ALLOWED = 6
    INTERRUPTED = 130
    CLOSED_PIPE = 141


_EXITS: tuple[tuple[type[errors.ChronoshardError], Exit], ...] = (
    (errors.InvalidInput, Exit.USAGE),
    (errors.TooLarge, Exit.USAGE),
    (errors.NotFound, Exit.NOT_FOUND),
    (errors.Conflict, Exit.CONFLICT),
    (errors.StaleVersion, Exit.CONFLICT),
    (errors.Unauthorized, Exit.NOT_ALLOWED),
    (errors.Forbidden, Exit.NOT_ALLOWED),
)

_NEXT_STEPS: tuple[tuple[type[errors.ChronoshardError], str], ...] = (
    (errors.Unauthorized, "set CHRONOSHARD_TOKEN, or run this as the user who runs `chronoshard up`"),
    (errors.Forbidden, "use a token with a role that may: `chronoshard whoami` shows this one's"),
    (errors.StaleVersion, "somebody changed it meanwhile: look at it again and repeat"),
    (errors.TooMany, "wait a moment and repeat the same command"),
    (errors.OutcomeUnknown, "repeat the same command with the same --idempotency-key: it happens once"),
    (errors.Unavailable, "repeat the same command a little later; `chronoshard doctor` says what is wrong"),
)


_OPTIONS = {
    "/name": "--name",
    "/trigger/schedule": "--cron",
    "/trigger/every": "--every",
    "/trigger/at": "--at",
    "/trigger/zone": "--zone",
    "/trigger/starts_at": "--starts-at",
    "/trigger/ends_at": "--ends-at",
    "/trigger/max_runs": "--max-runs",
    "/trigger/jitter": "--jitter",
    "/params": "--param",
    "/retries/max": "--retries",
    "/retries/delay": "--retry-delay",
    "/timeout": "--timeout",
    "/tags": "--tag",
    "/task/source": "SOURCE",
    "/http/url": "SOURCE",
    "/http/method": "--method",
    "/http/headers": "--header",
    "/http/body": "--body",
    "/reason": "--reason",
    "/owner": "--owner",
    "/expires_at": "--expires",
}
_NEXT_BY_CODE = {
    "run.not_found": "`chronoshard history JOB` lists the runs of a job",
    "job.not_found": "`chronoshard get jobs` lists the jobs that this token may see",
    "token.not_found": "`chronoshard admin token list` lists the tokens",
}


def exit_of(error: errors.ChronoshardError) -> Exit:
    """Return the exit code for an error. What is the server's fault counts as not reachable."""
    return next((code for kind, code in _EXITS if isinstance(error, kind)), Exit.UNREACHABLE)


def next_step(error: errors.ChronoshardError) -> str | None:
    """Return what to do now: what the error itself says, else what is right for its kind."""
    by_kind = next((text for kind, text in _NEXT_STEPS if isinstance(error, kind)), None)
    return error.hint or _NEXT_BY_CODE.get(error.code) or by_kind


def as_text(error: errors.ChronoshardError) -> str:
    """Return the lines for a person."""
    lines = [f"error[{error.code}]: {printable(error.detail)}"]
    fields = error.fields or (((error.pointer, ""),) if error.pointer else ())
    for pointer, reason in fields:
        told = f": {reason}" if reason and reason not in error.detail else ""
        lines.append(f"  where: {printable(_place(pointer, error) + told)}")
    why = _why(error)
    if why is not None:
        lines.append(f"  why:   {printable(why)}")
    step = next_step(error)
    if step is not None:
        lines.append(f"  next:  {printable(step)}")
    return "\n".join(lines)


def as_record(error: errors.ChronoshardError) -> dict[str, object]:
    """Return the same for a program."""
    fields = error.fields or (((error.pointer, error.detail),) if error.pointer else ())
    return {
        "error": {
            "code": error.code,
            "detail": error.detail,
            "errors": [{"pointer": pointer, "detail": reason} for pointer, reason in fields],
            "why": _why(error),
            "next": next_step(error),
            "request_id": error.request_id,
            "exit_code": int(exit_of(error)),
        }
    }


def wants_json(tokens: Sequence[str]) -> bool:
    """Whether a command line asks for JSON, also one that cannot be parsed."""
    for index, token in enumerate(tokens):
        if token == "--":
            return False
        if token in ("-o", "--output") and list(tokens[index + 1 : index + 2]) == ["json"]:
            return True
        if token in ("-ojson", "-o=json", "--output=json"):
            return True
    return False


def _place(pointer: str, error: errors.ChronoshardError) -> str:
    """Return where it is: for what a server says of a request, the option that the field came from as well."""
    option = _OPTIONS.get(pointer) if error.request_id is not None else None
    return pointer if option is None else f"{option} ({pointer})"


def _why(error: errors.ChronoshardError) -> str | None:
    if error.request_id is not None:
        return f"the server refused it (request {error.request_id})"
    cause = error.__cause__
    return None if cause is None or str(cause) in error.detail else f"{cause}"
