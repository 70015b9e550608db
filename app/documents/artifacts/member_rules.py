"""Rules for the text of documents and their metadata, a flat object of JSON scalars."""

from typing import Any

from app.kit.api.strict_json import MAX_SAFE_INT

MAX_TEXT = 2_000_000
MAX_MEMBERS = 100
MAX_KEY = 100
MAX_VALUE = 2000


class InexactNumberError(ValueError):
    """A number that many JSON parsers change; `key` is its member."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"Numbers must be between -{MAX_SAFE_INT} and {MAX_SAFE_INT}; many JSON parsers"
            " change larger ones. Send a larger number as text."
        )
        self.key = key


def check_metadata(value: dict[Any, Any]) -> dict[str, Any]:
    """Return the metadata if it follows the rules.

    The caller has checked that its texts can be stored. Raises ValueError with the reason, or
    InexactNumberError.
    """
    if len(value) > MAX_MEMBERS:
        raise ValueError(f"Must have at most {MAX_MEMBERS} members.")
    for key, member in value.items():
        if not 0 < len(key) <= MAX_KEY:
            raise ValueError(f"Keys must have 1 to {MAX_KEY} characters.")
        is_number = isinstance(member, bool | int | float)
        if isinstance(member, str):
            if len(member) > MAX_VALUE:
                raise ValueError(f"Strings must have at most {MAX_VALUE} characters.")
        elif not is_number:
            raise ValueError("Members must be strings, numbers or booleans.")
        elif abs(member) > MAX_SAFE_INT:
            raise InexactNumberError(key)
    return value
