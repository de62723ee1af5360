"""`admin token`: who may speak to the server, and as what."""

from __future__ import annotations

from typing import Literal

from chronoshard.cli.failures import Exit
from chronoshard.cli.nodes import columns_of
from chronoshard.cli.output import Output, show
from chronoshard.cli.parsing import parse_time
from chronoshard.cli.session import connect, reader
from chronoshard.cli.table import pairs
from chronoshard.cli.words import rfc3339
from chronoshard.client.transport import new_key

_COLUMNS = ("token_id", "owner", "role", "created_at", "expires_at")


def create(
    *,
    owner: str,
    role: Literal["user", "viewer", "operator"] = "user",
    expires: str | None = None,
    output: Output = "table",
) -> int:
    """Make a token. It is shown this once and cannot be read again.

    Examples:
      chronoshard admin token create --owner alice
      chronoshard admin token create --owner grafana --role viewer --expires 2028-01-01T00:00Z

    Args:
        owner: whose jobs it sees
        role: a viewer reads, a user also changes, an operator acts for all
        expires: until when it is good; for ever without
    """
    view = reader()
    until = None if expires is None else rfc3339(parse_time(expires, "--expires", now_ms=view.now_ms))
    with connect() as client:
        made = client.admin.create_token(owner, role, expires_at=until, key=new_key())
    show(made, output, table=lambda: pairs(list(made.items())), names=[str(made.get("token"))])
    return Exit.OK


def list_(*, output: Output = "table") -> int:
    """List the tokens, without the secrets.

    Examples:
      chronoshard admin token list
    """
    view = reader()
    with connect() as client:
        found = list(client.admin.tokens())
    names = [str(token["token_id"]) for token in found]
    show(found, output, table=lambda: columns_of(found, _COLUMNS, view), names=names)
    return Exit.OK


def revoke(token_id: str, /) -> int:
    """Take a token back: the next request with it is refused.

    Examples:
      chronoshard admin token revoke 4f0c9a

    Args:
        token_id: as `admin token list` shows it
    """
    with connect() as client:
        client.admin.revoke_token(token_id, key=new_key())
    print(f"{token_id} revoked")
    return Exit.OK
