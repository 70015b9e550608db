"""JSON that means one thing only: no member given twice, no number that loses digits.

Parsers differ in what they make of such text, so it is refused instead of being read in one of the
ways. orjson finds malformed text; the standard library's parser, which shows each member of an
object and each integer as it is written, finds the rest.
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
    """The text has more levels than the parser takes."""


def parse(text: bytes | str, field: str | None = None) -> Any:
    """Return the value of a JSON text.

    `field` names the part of the request that it came in, if that is not the body. Raises
    `Malformed`, NestedTooDeeplyError, or 400 on what is well-formed but ambiguous.
    """
    orjson.loads(text)
    decoded = text if isinstance(text, str) else text.decode()

    def build_object(members: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(members)
        if len(found) != len(members):
            raise _duplicate(members, field)
        return found

    def parse_int(digits: str) -> int:
        number = int(digits) if len(digits) <= _INT_DIGITS + 2 else None
        if number is None or not _MIN_INT <= number <= _MAX_INT:
            raise errors.invalid(
                f"The number {digits[:_ECHO_LENGTH]} is too large to be held exactly."
                " Send it as text.",
                field or "body",
            )
        return number

    try:
        return json.loads(decoded, object_pairs_hook=build_object, parse_int=parse_int)
    except RecursionError:
        raise NestedTooDeeplyError("Nested too deeply.") from None


def _duplicate(members: list[tuple[str, Any]], field: str | None) -> errors.ApiError:
    seen: set[str] = set()
    for name, _ in members:
        if name in seen:
            break
        seen.add(name)
    shown = name.replace("\x00", "")[:_ECHO_LENGTH]
    return errors.invalid(
        f"The member `{shown}` is given more than once.", field or shown or "body"
    )
