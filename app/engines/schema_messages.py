"""Build the messages for values that violate a JSON Schema."""

from collections.abc import Mapping

import orjson

_MESSAGES: Mapping[str, str] = {
    "type": "must be of type {rule}",
    "const": "must be {rule}",
    "enum": "must be one of {rule}",
    "minimum": "must be at least {rule}",
    "maximum": "must be at most {rule}",
    "minLength": "must have a minimum length of {rule}",
    "maxLength": "must have a maximum length of {rule}",
    "maxItems": "must have a maximum length of {rule}",
    "pattern": "must match the pattern {rule}",
}


def describe_violation(keyword: str, rule: object) -> str:
    """Return the requirement of a JSON Schema that a value violates, like "must be at least 1".

    `keyword` is a key of `_MESSAGES`, and `rule` is its value in the schema. Types and patterns
    appear unchanged. Other values appear as JSON, so that separators such as a tab are visible.
    """
    match keyword, rule:
        case "type", [*types]:
            text = " or ".join(map(str, types))
        case "type" | "pattern", _:
            text = str(rule)
        case "enum", [*values]:
            text = ", ".join(map(_encode, values))
        case _:
            text = _encode(rule)
    return _MESSAGES[keyword].format(rule=text)


def _encode(value: object) -> str:
    return orjson.dumps(value).decode()
