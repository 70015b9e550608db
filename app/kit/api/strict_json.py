"""A JSON parser that rejects repeated members and integers beyond 64 bits.

Parsers interpret such text differently, so it is rejected. orjson detects malformed text. The
parser of the standard library, which passes each member and integer to a hook, detects the rest.
"""

import json
from typing import Any

import orjson

from app.kit import errors

MAX_SAFE_INT = 2**53 - 1
"""The largest integer that every JSON parser holds exactly (RFC 8259, section 6)."""
_INT_DIGITS = 19  # integers of fewer digits fit 64 bits
_MIN_INT, _MAX_INT = -(2**63), 2**64 - 1
_ECHO_LENGTH = 64

Malformed = orjson.JSONDecodeError


class NestedTooDeeplyError(ValueError):
    """The text has more levels than the parser supports."""


def parse(text: bytes | str, field: str | None = None) -> object:
    """Return the value of a JSON text.

    Args:
        text: the JSON text.
        field: the part of the request that contains it, if not the body; for error messages.

    Raises:
        Malformed: the text is not JSON.
        NestedTooDeeplyError: it has too many levels.
        ApiError: 400, it is well-formed but ambiguous.
    """
    orjson.loads(text)
    decoded = text if isinstance(text, str) else text.decode()

    def build_object(members: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(members)
        if len(built) != len(members):
            raise _build_duplicate_error(members, field)
        return built

    def parse_int(digits: str) -> int:
        number = int(digits) if len(digits) <= _INT_DIGITS + 2 else None
        if number is None or not _MIN_INT <= number <= _MAX_INT:
            raise errors.invalid(
                f"The number {digits[:_ECHO_LENGTH]} is too large to be represented exactly."
                " Send it as text.",
                field or "body",
            )
        return number

    try:
        value: object = json.loads(decoded, object_pairs_hook=build_object, parse_int=parse_int)
    except RecursionError:
        raise NestedTooDeeplyError("Nested too deeply.") from None
    return value


def _build_duplicate_error(members: list[tuple[str, Any]], field: str | None) -> errors.ApiError:
    seen: set[str] = set()
    for name, _ in members:
        if name in seen:
            break
        seen.add(name)
    shown = name.replace("\x00", "")[:_ECHO_LENGTH]
    return errors.invalid(f"The member `{shown}` is sent more than once.", field or shown or "body")
