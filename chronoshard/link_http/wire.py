"""What the link looks like on the wire: the Protocols of `chronoshard.link` define it.

One POST per method at `/link/v1/PART/METHOD`, the arguments as a JSON object, the answer as JSON, errors as
`Problem`. An argument's field that is not known here is refused: what a newer version meant by it is never passed
over in silence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, get_type_hints

import msgspec

from chronoshard.errors import InvalidInput
from chronoshard.link import ExecutorLink, OrchestratorLink

VERSION = "v1"
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)  # what decoding JSON may raise


class Shape(NamedTuple):
    """The fields that an object, or each object of a list, may have."""

    fields: Mapping[str, Shape | None]


class Method(NamedTuple):
    """One call as the wire has it."""

    arguments: type[msgspec.Struct]
    shape: Shape
    answer: Any  # a type


class Problem(msgspec.Struct, omit_defaults=True):
    """The body of every answer that is not a success."""

    code: str
    detail: str
    pointer: str | None = None
    hint: str | None = None


def _shape(node: msgspec.inspect.Type) -> Shape | None:
    match node:
        case msgspec.inspect.StructType(array_like=False):
            return Shape({field.encode_name: _shape(field.type) for field in node.fields})
        case msgspec.inspect.CollectionType():
            return _shape(node.item_type)
        case msgspec.inspect.UnionType():
            return next((shape for shape in map(_shape, node.types) if shape is not None), None)
        case _:
            return None


def _method(function: Any) -> Method:
    hints = get_type_hints(function)
    answer = hints.pop("return")
    arguments = msgspec.defstruct(function.__name__, list(hints.items()), frozen=True)
    shape = _shape(msgspec.inspect.type_info(arguments))
    assert shape is not None
    return Method(arguments, shape, answer)


def _methods(protocol: type) -> dict[str, Method]:
    """Return the calls of a Protocol, by name."""
    return {
        name: _method(function)
        for name, function in vars(protocol).items()
        if not name.startswith("_") and callable(function)
    }


def authorization(token: str) -> str:
    """Return the header that shows `token`. Raises InvalidInput for what a header cannot carry as it is."""
    if not token or token != token.strip() or not (token.isascii() and token.isprintable()):
        raise InvalidInput("a link needs a token of visible ASCII characters", code="link.token")
    return f"Bearer {token}"


def decode_arguments(method: Method, body: bytes) -> dict[str, Any]:
    """Return the arguments of a call by name. Raises InvalidInput."""
    try:
        raw = msgspec.json.decode(body)
        arguments = msgspec.convert(raw, method.arguments)
    except UNREADABLE as error:
        raise InvalidInput(f"not the arguments of this call: {error}", code="link.arguments") from error
    _refuse_unknown(raw, method.shape, "")
    return {name: getattr(arguments, name) for name in arguments.__struct_fields__}


def _refuse_unknown(data: object, shape: Shape, pointer: str) -> None:
    if isinstance(data, list):
        for number, item in enumerate(data):
            _refuse_unknown(item, shape, f"{pointer}/{number}")
    elif isinstance(data, dict):
        for name, value in data.items():
            place = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
            if name not in shape.fields:
                raise InvalidInput(f"unknown field {name!r}", code="link.unknown_field", pointer=place)
            inner = shape.fields[name]
            if inner is not None:
                _refuse_unknown(value, inner, place)


EXECUTOR = _methods(ExecutorLink)
ORCHESTRATOR = _methods(OrchestratorLink)
