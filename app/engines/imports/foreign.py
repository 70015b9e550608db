"""Build the members of documents from the exports of other tools."""

from collections.abc import Mapping
from typing import Any


def build_members(text: str, external_id: str | None, others: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a document; plain values of `others` become its metadata."""
    plain = {
        name: value
        for name, value in others.items()
        if isinstance(value, (str, bool, int, float)) and value != ""
    }
    return {"text": text, "external_id": external_id, "metadata": plain}


def read_id(value: object) -> str | None:
    """Return the id of a record as a text, or None if it has none."""
    if isinstance(value, str) and value:
        return value
    return str(value) if type(value) is int else None
