"""The program `chronoshard`: runs one command and turns what went wrong into words and an exit code.

Nothing heavy is imported before it is needed: `chronoshard --help` must answer at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from chronoshard.cli.failures import Exit, as_record, as_text, exit_of, wants_json
from chronoshard.errors import ChronoshardError

_HELP = ("--help", "-h")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (the process's own without) and return the exit code."""
    tokens = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _dispatch(tokens)
        sys.stdout.flush()
    except ChronoshardError as error:
        return _report(error, tokens)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return Exit.CLOSED_PIPE
    return code


def _dispatch(tokens: list[str]) -> int:
    if tokens[:1] == ["help"]:
        tokens = [*tokens[1:], "--help"]
    if tokens[:1] == ["--version"]:
        tokens = ["version", *tokens[1:]]
    words = tokens[: tokens.index("--")] if "--" in tokens else tokens
    if not tokens or any(word in _HELP for word in words):
        from chronoshard.cli.help import page

        print(page([word for word in words if word not in _HELP]))
        return Exit.OK
    from chronoshard.cli.parser import run

    return run(tokens)


def _report(error: ChronoshardError, tokens: Sequence[str]) -> int:
    if wants_json(tokens):
        from chronoshard.cli.output import as_json

        text = as_json(as_record(error))
    else:
        text = as_text(error)
    print(text, file=sys.stderr)
    return exit_of(error)


def _forget_stdout() -> None:
    """Keep the interpreter from flushing into the closed pipe once more, with a traceback."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
