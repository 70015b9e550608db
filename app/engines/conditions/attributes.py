"""What conditions may ask of a document, and by which operators."""

from typing import Literal

Kind = Literal["text", "number", "id", "any"]

ATTRIBUTES: dict[str, Kind] = {
    "name": "text",
    "media_type": "text",
    "language": "text",
    "page_count": "number",
    "size_bytes": "number",
    "connector_id": "id",
    "schema_id": "id",
    "text": "text",
    "confidence": "number",
}
"""Every attribute but those of the metadata, by the kind of its values."""

METADATA = "metadata."
"""Begins the name of an attribute whose value may be a text, a number or a boolean."""

MAX_METADATA_KEY = 100

_PRESENCE = ("exists", "not_exists")
_EQUALITY = ("equals", "not_equals", "in", "not_in")
_WORDS = ("contains", "not_contains", "starts_with", "ends_with", "matches")
_ORDER = ("greater_than", "at_least", "less_than", "at_most")

_OPERATORS: dict[Kind, tuple[str, ...]] = {
    "text": (*_EQUALITY, *_WORDS, *_PRESENCE),
    "number": (*_EQUALITY, *_ORDER, *_PRESENCE),
    "id": (*_EQUALITY, *_PRESENCE),
    "any": (*_EQUALITY, *_WORDS, *_ORDER, *_PRESENCE),
}
OPERATORS = _OPERATORS["any"]
"""Every operator there is."""


def kind_of(attribute: str) -> Kind | None:
    """The kind of an attribute's values; None when there is no such attribute."""
    if attribute.startswith(METADATA):
        return "any" if 0 < len(attribute) - len(METADATA) <= MAX_METADATA_KEY else None
    return ATTRIBUTES.get(attribute)


def operators_of(kind: Kind) -> tuple[str, ...]:
    """The operators that attributes of a kind take."""
    return _OPERATORS[kind]
