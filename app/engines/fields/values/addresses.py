"""Normalize postal addresses, which are strings or objects of strings."""

from app.engines.fields.errors import ValueProblem
from app.engines.fields.model import Field, JsonValue, Normalizer
from app.engines.fields.plain_text import check_text

PARTS = ("street", "city", "postal_code", "region", "country")
MAX_PART_CHARS = 1000


def build_normalizer(field: Field) -> Normalizer:  # noqa: ARG001 - an address takes no constraints
    """Build the normalizer for an address field; it trims texts and removes empty parts."""
    return _normalize


def _normalize(value: object) -> JsonValue:
    if isinstance(value, str):
        text = check_text(value, MAX_PART_CHARS).strip()
        if not text:
            raise ValueProblem("is empty")
        return text
    if not isinstance(value, dict) or not value.keys() <= set(PARTS):
        raise ValueProblem(f"must be a string or an object with any of {', '.join(PARTS)}")
    raw_parts = ((name, value.get(name)) for name in PARTS)
    texts = {
        name: check_text(text, MAX_PART_CHARS).strip()
        for name, text in raw_parts
        if text is not None
    }
    parts: dict[str, JsonValue] = {name: text for name, text in texts.items() if text}
    if not parts:
        raise ValueProblem("is empty")
    return parts
