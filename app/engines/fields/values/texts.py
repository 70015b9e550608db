"""Normalize the values of text, span and region fields.

If a text field has the constraint `formats`, its values are parsed as identifiers.
"""

from collections.abc import Callable

from app.engines.fields.errors import ValueProblem
from app.engines.fields.identifiers import parse_identifier
from app.engines.fields.model import Field, JsonValue, Normalizer
from app.engines.fields.patterns import compile_pattern
from app.engines.fields.plain_text import check_text
from app.engines.plurals import format_count

MAX_TEXT_CHARS = 100_000


def build_normalizer(field: Field) -> Normalizer:
    """Build the normalizer for a text, span or region field.

    The value of a text field is trimmed. The value of a span or region is not modified, because it
    is text at a position in the document. A region may have no text (null).
    """
    field_type = field["type"]
    if field_type == "region":
        return lambda value: None if value is None else check_text(value, MAX_TEXT_CHARS)
    formats = tuple((field.get("constraints") or {}).get("formats") or ())

    def parse(value: object) -> str:
        text = check_text(value, MAX_TEXT_CHARS)
        if field_type == "text":
            text = text.strip()
            if formats:
                text = parse_identifier(text, formats)
        return text

    return build_text_normalizer(field, parse)


def build_text_normalizer(field: Field, parse: Callable[[object], str]) -> Normalizer:
    """Build a normalizer from `parse`, which returns the canonical text of a value.

    The normalizer checks `min_length`, `max_length` (code points) and `pattern`, and raises
    ValueProblem if the text violates one of them.
    """
    constraints = field.get("constraints") or {}
    low: int = constraints.get("min_length") or 0
    high: int = constraints.get("max_length", MAX_TEXT_CHARS)
    pattern = constraints.get("pattern")
    search_pattern = compile_pattern(pattern).search if pattern else None

    def normalize(value: object) -> JsonValue:
        text = parse(value)
        if len(text) < low:
            raise ValueProblem(f"is shorter than {format_count(low, 'character', 'characters')}")
        if len(text) > high:
            raise ValueProblem(f"is longer than {format_count(high, 'character', 'characters')}")
        if search_pattern is not None and search_pattern(text) is None:
            raise ValueProblem("does not match the field's pattern")
        return text

    return normalize
