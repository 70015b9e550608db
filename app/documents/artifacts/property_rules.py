"""The maximum length of document text, and rules for metadata: a flat object of JSON scalars."""

from typing import Any

from app.kit.api.strict_json import MAX_SAFE_INT

MAX_TEXT_LENGTH = 2_000_000
MAX_KEYS = 100
MAX_KEY_LENGTH = 100
MAX_VALUE_LENGTH = 2000


class InexactNumberError(ValueError):
    """Raised for a metadata number that many JSON parsers would change; `key` is its key."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"Numbers must be between -{MAX_SAFE_INT} and {MAX_SAFE_INT}; many JSON parsers"
            " change larger numbers. Send a larger number as text."
        )
        self.key = key


def check_metadata(value: dict[Any, Any]) -> dict[str, Any]:
    """Validate metadata and return it.

    The caller has already checked that the strings can be stored. Raises ValueError with the
    reason, or InexactNumberError.
    """
    if len(value) > MAX_KEYS:
        raise ValueError(f"Must have at most {MAX_KEYS} keys.")
    for key, item in value.items():
        if not 0 < len(key) <= MAX_KEY_LENGTH:
            raise ValueError(f"Keys must have 1 to {MAX_KEY_LENGTH} characters.")
        is_number = isinstance(item, bool | int | float)
        if isinstance(item, str):
            if len(item) > MAX_VALUE_LENGTH:
                raise ValueError(f"Strings must have at most {MAX_VALUE_LENGTH} characters.")
        elif not is_number:
            raise ValueError("Values must be strings, numbers or booleans.")
        elif abs(item) > MAX_SAFE_INT:
            raise InexactNumberError(key)
    return value
