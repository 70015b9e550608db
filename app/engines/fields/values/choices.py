"""Normalize choices and booleans."""

from app.engines.fields.errors import ValueProblem
from app.engines.fields.model import Field, JsonValue, Normaliser
from app.engines.fields.plain import plain, text_of

_TRUE = (
    *("true", "yes", "y", "on", "1", "x", "checked", "☑", "☒", "✓", "✔"),
    *("ja", "oui", "si", "sí", "sì", "sim", "tak", "да"),
)
_FALSE = (
    *("false", "no", "n", "off", "0", "unchecked", "☐"),
    *("nein", "non", "não", "nie", "нет"),
)
_WORDS = dict.fromkeys(_TRUE, True) | dict.fromkeys(_FALSE, False)


def make(field: Field) -> Normaliser:
    """Return the normalizer of a choice or boolean field; a choice becomes its option's value."""
    return _boolean if field["type"] == "boolean" else _choice(field)


def _boolean(value: object) -> JsonValue:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    if isinstance(value, str):
        flag = _WORDS.get(plain(value).casefold())
        if flag is not None:
            return flag
    raise ValueProblem("must be true or false")


def _choice(field: Field) -> Normaliser:
    options = field.get("options") or []
    values = {option["value"] for option in options}
    labels: dict[str, str | None] = {}
    for option in options:
        label = _folded(option.get("label") or option["value"])
        # A label shared by two options is ambiguous and matches neither.
        labels[label] = None if label in labels else option["value"]

    def normalise(value: object) -> JsonValue:
        if isinstance(value, str) and value in values:
            return value
        option_value = labels.get(_folded(text_of(value, 1000)))
        if option_value is None:
            raise ValueProblem("must be the value of one of the options")
        return option_value

    return normalise


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
