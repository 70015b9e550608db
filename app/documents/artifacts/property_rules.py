"""The maximum length of document text in characters, and rules for metadata."""

from typing import Any

from app.kit.api.strict_json import MAX_SAFE_INT

MAX_TEXT_LENGTH = 2_000_000
MAX_METADATA_KEYS = 100
MAX_METADATA_KEY_LENGTH = 100
MAX_METADATA_VALUE_LENGTH = 2000


class InvalidMetadataError(ValueError):
    """Raised for a metadata value that is not allowed; `key` is its key."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(reason)
        self.key = key


class InexactNumberError(InvalidMetadataError):
    """Raised for a number in metadata that is too large for many JSON parsers to keep exactly."""

    def __init__(self, key: str) -> None:
        super().__init__(
            key,
            f"Numbers must be between -{MAX_SAFE_INT} and {MAX_SAFE_INT}; many JSON parsers"
            " change larger numbers. Send a larger number as text.",
        )


def check_metadata(value: dict[Any, Any]) -> dict[str, Any]:
    """Validate metadata and return it.

    The caller has already checked that the strings can be stored. Raises ValueError with the
    reason, or its subclass InvalidMetadataError if the value of one key is not allowed.
    """
    if len(value) > MAX_METADATA_KEYS:
        raise ValueError(f"Must have at most {MAX_METADATA_KEYS} keys.")
    for key, item in value.items():
        if not 0 < len(key) <= MAX_METADATA_KEY_LENGTH:
            raise ValueError(f"Keys must have 1 to {MAX_METADATA_KEY_LENGTH} characters.")
        _check_value(key, item)
    return value


def _check_value(key: str, item: object) -> None:
    if isinstance(item, str):
        if len(item) > MAX_METADATA_VALUE_LENGTH:
            reason = f"Strings must have at most {MAX_METADATA_VALUE_LENGTH} characters."
            raise InvalidMetadataError(key, reason)
    elif not isinstance(item, bool | int | float):
        raise InvalidMetadataError(key, "Values must be strings, numbers or booleans.")
    elif abs(item) > MAX_SAFE_INT:
        raise InexactNumberError(key)
