"""The kinds of fields that requests are made of: strict about JSON's types, with messages for people."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from chronoshard.api.text import parse_duration, parse_time

MAX_NAME = 200
MAX_TAGS = 64
MAX_TAG = 200
MAX_URL = 2_048
TASK_ID = r"^sha256:[0-9a-f]{64}$"
PRIORITIES = {"P1": 1, "P2": 2, "P3": 3, "1": 1, "2": 2, "3": 3, 1: 1, 2: 2, 3: 3}
_SCHEME = re.compile(r"https?://[^/?#\s]+", re.IGNORECASE)

T = TypeVar("T")


class Body(BaseModel):
    """What a client sends: unknown fields are refused, a string is no number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _checked(parse: Callable[[Any], T], code: str) -> Callable[[Any], T]:
    """Return a validator that says why by the parser's ValueError, under a stable code."""

    def validate(value: Any) -> T:
        try:
            return parse(value)
        except ValueError as error:
            raise PydanticCustomError(code, "{why}", {"why": str(error)}) from error

    return validate


def _time(value: Any) -> int:
    if not isinstance(value, str):
        raise ValueError("a time is a text as of RFC 3339, such as 2027-03-01T09:00:00Z")
    return parse_time(value)


def _priority(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, str | int) or value not in PRIORITIES:
        raise ValueError("a priority is P1, P2 or P3")
    return PRIORITIES[value]


def _printable(value: str) -> str:
    """Refuse what would move a reader's cursor, and names that look empty."""
    if any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in value):
        raise ValueError("control characters are not allowed")
    if value != value.strip() or not value:
        raise ValueError("it is empty, or begins or ends with a space")
    return value


def _tag_key(value: str) -> str:
    if ":" in value:
        raise ValueError("a tag's key has no colon: tag=KEY:VALUE is how jobs are found by it")
    return _printable(value)


def _url(value: str) -> str:
    if not value.isprintable() or " " in value or _SCHEME.match(value) is None:
        raise ValueError("a URL begins with http:// or https:// and a host, and has no spaces")
    return value


def _header_name(value: str) -> str:
    if re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}", value) is None:
        raise ValueError("no name of an HTTP header")
    return value


def _header_value(value: str) -> str:
    if not all(char == "\t" or (char.isprintable() and ord(char) < 256) for char in value):
        raise ValueError("a header's value has no control characters and only Latin letters")
    return value


TimeField = Annotated[
    int,
    BeforeValidator(_checked(_time, "time.invalid")),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2027-03-01T09:00:00Z"]}),
]
DurationField = Annotated[
    int,
    BeforeValidator(_checked(parse_duration, "duration.invalid")),
    WithJsonSchema(
        {
            "anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}],
            "description": "seconds, or a text such as 90s, 5m, 1h30m",
            "examples": [90, "1h30m"],
        }
    ),
]
PriorityField = Annotated[
    int,
    BeforeValidator(_checked(_priority, "priority.invalid")),
    WithJsonSchema({"enum": ["P1", "P2", "P3", "1", "2", "3", 1, 2, 3]}),
]
NameField = Annotated[
    str, Field(min_length=1, max_length=MAX_NAME), AfterValidator(_checked(_printable, "name.invalid"))
]
TagKey = Annotated[str, Field(max_length=MAX_TAG), AfterValidator(_checked(_tag_key, "tag.invalid"))]
TagValue = Annotated[str, Field(max_length=MAX_TAG), AfterValidator(_checked(_printable, "tag.invalid"))]
TagsField = Annotated[dict[TagKey, TagValue], Field(max_length=MAX_TAGS)]
UrlField = Annotated[str, Field(max_length=MAX_URL), AfterValidator(_checked(_url, "http.url"))]
HeadersField = Annotated[
    dict[
        Annotated[str, AfterValidator(_checked(_header_name, "http.header"))],
        Annotated[str, Field(max_length=8_192), AfterValidator(_checked(_header_value, "http.header"))],
    ],
    Field(max_length=64),
]
