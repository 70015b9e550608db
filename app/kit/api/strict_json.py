"""A JSON parser that rejects repeated property names and integers beyond 64 bits.

JSON parsers disagree about the meaning of such text. orjson detects malformed text. The standard
library's parser detects repeated names and large integers, because it passes each object and
integer to a hook.
"""

import json
from typing import Any

import orjson

from app.kit import errors

MAX_SAFE_INT = 2**53 - 1
"""The largest integer that every JSON parser represents exactly (RFC 8259, section 6)."""
_MAX_INT_LENGTH = 20  # no integer of 64 bits has more characters
_MIN_INT, _MAX_INT = -(2**63), 2**64 - 1
_MAX_ECHO_LENGTH = 64
"""The maximum length of a name or number from the JSON text that an error response repeats."""

MalformedError = orjson.JSONDecodeError


class NestedTooDeeplyError(ValueError):
    """The JSON text has more levels of nesting than the parser supports."""


def parse(text: bytes | str, field: str | None = None) -> object:
    """Parse a JSON text, and return its value.

    Args:
        text: the JSON text.
        field: the field that errors refer to. By default, it is the repeated property or `body`.

    Raises:
        MalformedError: the text is not JSON.
        NestedTooDeeplyError: the text has too many levels.
        ApiError: 400 if a property is repeated, or an integer does not fit into 64 bits.
    """
    orjson.loads(text)
    json_text = text if isinstance(text, str) else text.decode()

    def build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        json_object = dict(pairs)
        if len(json_object) != len(pairs):
            raise _build_duplicate_error(pairs, field)
        return json_object

    def parse_int(digits: str) -> int:
        number = int(digits) if len(digits) <= _MAX_INT_LENGTH else None
        if number is None or not _MIN_INT <= number <= _MAX_INT:
            raise errors.invalid(
                f"The number {digits[:_MAX_ECHO_LENGTH]} is too large to be represented exactly."
                " Send it as a string.",
                field or "body",
            )
        return number

    try:
        value: object = json.loads(json_text, object_pairs_hook=build_object, parse_int=parse_int)
    except RecursionError:
        raise NestedTooDeeplyError("The JSON text is nested too deeply.") from None
    return value


def _build_duplicate_error(pairs: list[tuple[str, Any]], field: str | None) -> errors.ApiError:
    earlier_names: set[str] = set()
    for name, _ in pairs:
        if name in earlier_names:
            break
        earlier_names.add(name)
    shown_name = name.replace("\x00", "")[:_MAX_ECHO_LENGTH]
    return errors.invalid(
        f"The property `{shown_name}` is sent more than once.", field or shown_name or "body"
    )
