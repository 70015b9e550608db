"""Define the attributes of a document that conditions may use, and their operators."""

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
"""The value type of every attribute, except metadata attributes."""

METADATA = "metadata."
"""The prefix of metadata attributes, whose values may be text, numbers or booleans."""

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
"""All operators."""


def kind_of(attribute: str) -> Kind | None:
    """Return the value type of an attribute, or None if the attribute is unknown."""
    if attribute.startswith(METADATA):
        return "any" if 0 < len(attribute) - len(METADATA) <= MAX_METADATA_KEY else None
    return ATTRIBUTES.get(attribute)


def operators_of(kind: Kind) -> tuple[str, ...]:
    """Return the operators that an attribute of this type accepts."""
    return _OPERATORS[kind]
