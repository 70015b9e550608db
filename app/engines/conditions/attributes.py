"""Define the document attributes that conditions may use, with their operators and values."""

from collections.abc import Mapping
from typing import Any, Literal

from app.engines.conditions.time_limits import TimeLimit
from app.engines.normalization import normalize

ValueType = Literal["text", "number", "id", "any"]

ATTRIBUTES: dict[str, ValueType] = {
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
"""The value type of each attribute, except metadata attributes."""

METADATA_PREFIX = "metadata."
"""The prefix of metadata attributes, whose values may be text, numbers or booleans."""

MAX_METADATA_KEY_CHARS = 100

_PRESENCE_OPERATORS = ("exists", "not_exists")
_EQUALITY_OPERATORS = ("equals", "not_equals", "in", "not_in")
_TEXT_OPERATORS = ("contains", "not_contains", "starts_with", "ends_with", "matches")
_ORDER_OPERATORS = ("greater_than", "at_least", "less_than", "at_most")

_OPERATORS_BY_TYPE: dict[ValueType, tuple[str, ...]] = {
    "text": (*_EQUALITY_OPERATORS, *_TEXT_OPERATORS, *_PRESENCE_OPERATORS),
    "number": (*_EQUALITY_OPERATORS, *_ORDER_OPERATORS, *_PRESENCE_OPERATORS),
    "id": (*_EQUALITY_OPERATORS, *_PRESENCE_OPERATORS),
    "any": (*_EQUALITY_OPERATORS, *_TEXT_OPERATORS, *_ORDER_OPERATORS, *_PRESENCE_OPERATORS),
}
OPERATORS = _OPERATORS_BY_TYPE["any"]
"""All operators; metadata attributes accept all of them."""

MAX_TEXT_CHARS = 100_000
"""The maximum number of characters that conditions test, from the start of a document's text."""

MAX_EXCERPT_CHARS = 200
"""The maximum number of characters of the text excerpt in an explanation."""


def get_value_type(attribute: str) -> ValueType | None:
    """Return the value type of an attribute, or None if conditions cannot use it."""
    if attribute.startswith(METADATA_PREFIX):
        return (
            "any" if 0 < len(attribute) - len(METADATA_PREFIX) <= MAX_METADATA_KEY_CHARS else None
        )
    return ATTRIBUTES.get(attribute)


def get_operators(value_type: ValueType) -> tuple[str, ...]:
    """Return the operators that attributes of the type `value_type` accept."""
    return _OPERATORS_BY_TYPE[value_type]


def fold_text(text: str) -> str:
    """Fold `text` for comparisons that ignore case and the Unicode composition of accents."""
    if text.isascii():
        return text.lower()
    return normalize("NFC", normalize("NFC", text).casefold())


def build_excerpt(text: str, position: int = 0) -> str:
    """Build an excerpt of `text` near `position`, at most `MAX_EXCERPT_CHARS` characters long.

    An ellipsis marks each end at which the text was cut.
    """
    if len(text) <= MAX_EXCERPT_CHARS:
        return text
    length = MAX_EXCERPT_CHARS - 2
    start = max(0, min(position - length // 4, len(text) - length))
    end = start + length
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")


class DocumentAttributes:
    """The attribute values of one document; a value of None counts as missing.

    Text values are folded on first use, and the results are cached. Tests that may take long check
    `time_limit` first and raise EvaluationTimeout if the time is used up.
    """

    __slots__ = ("_folded", "time_limit", "values")

    def __init__(self, values: Mapping[str, Any], time_limit: TimeLimit | None = None) -> None:
        self.values = values
        self.time_limit = time_limit
        self._folded: dict[str, str] = {}

    def check_time(self) -> None:
        """Raise EvaluationTimeout if the document has a time limit, and the time is used up."""
        if self.time_limit is not None:
            self.time_limit.check()

    def get_folded(self, attribute: str) -> str | None:
        """Return the folded text of an attribute, or None if its value is missing or not text."""
        text = self._folded.get(attribute)
        if text is None:
            value = self.values.get(attribute)
            if not isinstance(value, str):
                return None
            text = self._folded[attribute] = fold_text(value)
        return text
