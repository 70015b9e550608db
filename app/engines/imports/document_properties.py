"""Build the properties of documents from records that other tools exported."""

from collections.abc import Mapping
from typing import Any


def build_properties(
    text: str, external_id: str | None, metadata: Mapping[str, Any]
) -> dict[str, Any]:
    """Build the properties of a document.

    Of `metadata`, only non-empty strings, numbers and Boolean values are kept.
    """
    plain_metadata = {
        name: value
        for name, value in metadata.items()
        if isinstance(value, (str, bool, int, float)) and value != ""
    }
    return {"text": text, "external_id": external_id, "metadata": plain_metadata}


def read_id(value: object) -> str | None:
    """Read the id of a record as a string.

    Returns None if `value` is neither an integer nor a non-empty string.
    """
    if isinstance(value, str) and value:
        return value
    return str(value) if type(value) is int else None
