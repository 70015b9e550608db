"""Build the JSON Schemas for string values: text, dates and times, URLs, phone numbers."""

from typing import Any

from app.engines.fields.json_schema.portable import translate_pattern
from app.engines.fields.json_schema.ranges import build_time_max_pattern, build_time_min_pattern
from app.engines.fields.model import Field
from app.engines.fields.values.emails import MAX_EMAIL_CHARS
from app.engines.fields.values.texts import MAX_TEXT_CHARS
from app.engines.fields.values.urls import MAX_HOST_CHARS, MAX_URL_CHARS, UNQUOTED_CHARS

Schema = dict[str, Any]

# The characters that Python's `str.strip` removes.
_SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"

_YEAR = "(?:[0-9]{3}[1-9]|[0-9]{2}[1-9][0-9]|[0-9][1-9][0-9]{2}|[1-9][0-9]{3})"
_MULTIPLE_OF_4 = "(?:0[48]|[2468][048]|[13579][26])"
_LEAP_YEAR = f"(?:[0-9]{{2}}{_MULTIPLE_OF_4}|{_MULTIPLE_OF_4}00)"
_DATE = (
    f"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    f"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP_YEAR}-02-29)"
)
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{6})?"
_TIME_PATTERNS = {"date": f"^{_DATE}$", "time": f"^{_TIME}$", "datetime": f"^{_DATE}T{_TIME}Z$"}

_HEX = "[0-9a-f]{1,4}"
_IPV6 = "|".join(
    [
        f"(?:{_HEX}:){{7}}{_HEX}",
        f"(?:{_HEX}:){{1,7}}:",
        *(f"(?:{_HEX}:){{1,{6 - n}}}(?::{_HEX}){{1,{n + 1}}}" for n in range(6)),
        f":(?:(?::{_HEX}){{1,7}}|:)",
    ]
)
_DNS_LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_PORT = "(?:0|[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
_URL_CHARS = "A-Za-z0-9" + "".join(
    f"\\{char}" if char in "[]-^\\" else char for char in UNQUOTED_CHARS
)
_QUERY_CHARS = _URL_CHARS.replace("#", "")
_PATH_CHARS = _QUERY_CHARS.replace("?", "")
_URL = (
    rf"^(?:https?|ftp)://(?:{_DNS_LABEL}(?:\.{_DNS_LABEL})*\.?|\[(?:{_IPV6})\])(?::{_PORT})?"
    rf"(?:/[{_PATH_CHARS}]*)?(?:\?[{_QUERY_CHARS}]+)?(?:#[{_URL_CHARS}]+)?$"
)
_HOST = rf"^[a-z]+://(?:[a-z0-9._-]{{1,{MAX_HOST_CHARS}}}|\[[0-9a-f:]+\])(?:[:/?#]|$)"


def _build_excluding_schema(pattern: str) -> Schema:
    """Build the schema for strings that do not match `pattern`."""
    # The inner type makes a value that is not a string cause one error instead of two.
    return {"type": "string", "not": {"type": "string", "pattern": pattern}}


TRIMMED = _build_excluding_schema(f"^[{_SPACE}]|[{_SPACE}]$|\\x00")
"""The schema for text that neither begins nor ends with whitespace, and contains no NUL."""
VERBATIM = _build_excluding_schema("\\x00")
"""The schema for any text that contains no NUL."""


def build_text_schema(field: Field) -> Schema:
    """Return the schema for trimmed text, or for identifiers if the field has `formats`."""
    formats = field["constraints"].get("formats") or []
    format_schema = (
        {"anyOf": [{"const": ""}, *({"format": name} for name in formats)]} if formats else {}
    )
    return {
        "$ref": "#/$defs/Trimmed",
        **_build_limits_schema(field, MAX_TEXT_CHARS),
        **format_schema,
    }


def build_span_schema(field: Field) -> Schema:
    """Return the schema for verbatim text, which may begin or end with whitespace."""
    return {"$ref": "#/$defs/Verbatim", **_build_limits_schema(field, MAX_TEXT_CHARS)}


REGION: Schema = {
    "anyOf": [{"type": "null"}, {"$ref": "#/$defs/Verbatim", "maxLength": MAX_TEXT_CHARS}]
}
"""The schema for the value of a region field: unmodified text or null."""


def build_email_schema(field: Field) -> Schema:
    """Return the schema for an email address.

    The pattern also accepts some invalid addresses; the format `idn-email` does not.
    """
    pattern = r"^[^@\s]+@[^@\s]+\.[^@\s]+$"
    limits = _build_limits_schema(field, MAX_EMAIL_CHARS)
    return {"type": "string", "format": "idn-email", "allOf": [{"pattern": pattern}], **limits}


def build_phone_schema(field: Field) -> Schema:
    """Return the schema for an E.164 number.

    The format `phone` checks the length of the number for its country; the pattern does not.
    """
    pattern = r"^\+[1-9][0-9]{3,16}$"
    return {
        "type": "string",
        "format": "phone",
        "allOf": [{"pattern": pattern}],
        **_build_limits_schema(field),
    }


def build_url_schema(field: Field) -> Schema:
    """Return the schema for a normalized URL."""
    return {"$ref": "#/$defs/Url", **_build_limits_schema(field, MAX_URL_CHARS)}


URL: Schema = {"type": "string", "allOf": [{"pattern": _URL}, {"pattern": _HOST}]}


def build_time_schema(field: Field) -> Schema:
    """Return the schema for a date, time or datetime within the limits of the field."""
    field_type, limits = field["type"], field["constraints"]
    patterns = [_TIME_PATTERNS[field_type]]
    if "min" in limits:
        patterns.append(build_time_min_pattern(limits["min"]))
    if "max" in limits:
        patterns.append(build_time_max_pattern(limits["max"]))
    formats = {"date": {"format": "date"}, "datetime": {"format": "date-time"}}
    format_schema = formats.get(field_type, {})
    return {
        "type": "string",
        **format_schema,
        "allOf": [{"pattern": pattern} for pattern in patterns],
    }


def _build_limits_schema(field: Field, max_length: int | None = None) -> Schema:
    constraints = field["constraints"]
    limits: Schema = {}
    if constraints.get("min_length"):
        limits["minLength"] = constraints["min_length"]
    max_lengths = [
        length for length in (max_length, constraints.get("max_length")) if length is not None
    ]
    if max_lengths:
        limits["maxLength"] = min(max_lengths)
    if "pattern" in constraints:
        limits["x-pattern"] = constraints["pattern"]
        pattern = translate_pattern(constraints["pattern"])
        if pattern is not None:
            limits["pattern"] = pattern
    return limits
