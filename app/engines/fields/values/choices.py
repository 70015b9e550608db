"""Normalize choices and booleans."""

from app.engines.fields.errors import ValueProblem
from app.engines.fields.model import Field, JsonValue, Normalizer
from app.engines.fields.plain_text import check_text, clean_text

_TRUE = (
    *("true", "yes", "y", "on", "1", "x", "checked", "☑", "☒", "✓", "✔"),
    *("ja", "oui", "si", "sí", "sì", "sim", "tak", "да"),
)
_FALSE = (
    *("false", "no", "n", "off", "0", "unchecked", "☐"),
    *("nein", "non", "não", "nie", "нет"),
)
_BOOLEAN_BY_WORD = dict.fromkeys(_TRUE, True) | dict.fromkeys(_FALSE, False)


def build_normalizer(field: Field) -> Normalizer:
    """Build the normalizer for a choice or boolean field.

    A choice is normalized to the value of its option. The option's label is also accepted, unless
    another option has the same label.
    """
    return _normalize_boolean if field["type"] == "boolean" else _build_choice_normalizer(field)


def _normalize_boolean(value: object) -> JsonValue:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    if isinstance(value, str):
        flag = _BOOLEAN_BY_WORD.get(clean_text(value).casefold())
        if flag is not None:
            return flag
    raise ValueProblem("must be true or false")


def _build_choice_normalizer(field: Field) -> Normalizer:
    options = field.get("options") or []
    values = {option["value"] for option in options}
    labels: dict[str, str | None] = {}
    for option in options:
        label = _fold_case(option.get("label") or option["value"])
        # A label shared by two options is ambiguous and matches neither.
        labels[label] = None if label in labels else option["value"]

    def normalize(value: object) -> JsonValue:
        if isinstance(value, str) and value in values:
            return value
        option_value = labels.get(_fold_case(check_text(value, 1000)))
        if option_value is None:
            raise ValueProblem("must be the value of an option")
        return option_value

    return normalize


def _fold_case(text: str) -> str:
    return " ".join(text.split()).casefold()
