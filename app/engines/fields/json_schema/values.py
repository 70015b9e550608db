"""Generate the JSON Schema for one value in canonical form, by field type."""

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from app.engines.fields.decimals import parse_decimal
from app.engines.fields.json_schema import strings
from app.engines.fields.json_schema.ranges import (
    DECIMAL_PATTERN,
    build_decimal_max_pattern,
    build_decimal_min_pattern,
)
from app.engines.fields.model import Field, get_range
from app.engines.fields.values.addresses import MAX_PART_CHARS, PARTS
from app.engines.fields.values.countries import ALPHA_2
from app.engines.fields.values.currencies import CODES
from app.engines.fields.values.quantities import MAX_SAFE_INTEGER

Schema = dict[str, Any]


def build_value_schema(field: Field) -> Schema:
    """Build the schema for a stored value of `field`.

    `field` must be in normal form and not a table.
    """
    field_type = field["type"]
    return _CONSTANT_SCHEMAS.get(field_type) or _SCHEMA_BUILDERS[field_type](field)


def _build_number_schema(field: Field) -> Schema:
    low, high = get_range(field, parse_decimal)
    number: Schema = {"type": "number"}
    if low is not None:
        number["minimum"] = _to_double(low, up=True)
    if high is not None:
        number["maximum"] = _to_double(high, up=False)
    return {"anyOf": [number, _build_decimal_schema(low, high)]}


def _build_integer_schema(field: Field) -> Schema:
    low, high = get_range(field, parse_decimal)
    minimum = -MAX_SAFE_INTEGER if low is None else max(-MAX_SAFE_INTEGER, math.ceil(low))
    maximum = MAX_SAFE_INTEGER if high is None else min(MAX_SAFE_INTEGER, math.floor(high))
    return {"type": "integer", "minimum": minimum, "maximum": maximum}


def _build_money_schema(field: Field) -> Schema:
    return {
        "type": "object",
        "properties": {
            "amount": _build_decimal_schema(*get_range(field, parse_decimal)),
            "currency": _build_currency_schema(field),
        },
        "required": ["amount", "currency"],
        "additionalProperties": False,
    }


def _build_currency_schema(field: Field) -> Schema:
    allowed_codes = field["constraints"].get("currencies")
    return {"enum": list(allowed_codes)} if allowed_codes else {"$ref": "#/$defs/Currency"}


def _build_choice_schema(field: Field) -> Schema:
    return {"enum": [option["value"] for option in field["options"]]}


def _build_decimal_schema(low: Decimal | None, high: Decimal | None) -> Schema:
    patterns = [DECIMAL_PATTERN]
    if low is not None:
        patterns.append(build_decimal_min_pattern(low))
    if high is not None:
        patterns.append(build_decimal_max_pattern(high))
    return {"type": "string", "allOf": [{"pattern": pattern} for pattern in patterns]}


def _to_double(limit: Decimal, *, up: bool) -> int | float:
    """Convert a limit to a JSON number that allows the same doubles as the exact limit.

    If `up` is true, the limit is a minimum and is rounded up. Otherwise, it is a maximum and is
    rounded down.
    """
    if limit == limit.to_integral_value() and limit.copy_abs() <= MAX_SAFE_INTEGER:
        return int(limit)
    double = float(limit)
    nearest = Decimal(repr(double))
    if up and nearest < limit:
        return math.nextafter(double, math.inf)
    return math.nextafter(double, -math.inf) if not up and nearest > limit else double


_SCHEMA_BUILDERS: dict[str, Callable[[Field], Schema]] = {
    "text": strings.build_text_schema,
    "number": _build_number_schema,
    "integer": _build_integer_schema,
    "money": _build_money_schema,
    "date": strings.build_time_schema,
    "time": strings.build_time_schema,
    "datetime": strings.build_time_schema,
    "choice": _build_choice_schema,
    "email": strings.build_email_schema,
    "phone": strings.build_phone_schema,
    "url": strings.build_url_schema,
    "currency": _build_currency_schema,
    "span": strings.build_span_schema,
}

_CONSTANT_SCHEMAS: dict[str, Schema] = {
    "boolean": {"type": "boolean"},
    "country": {"$ref": "#/$defs/Country"},
    "address": {"$ref": "#/$defs/Address"},
    "region": strings.REGION,
}

_ADDRESS_PART: Schema = {"$ref": "#/$defs/Trimmed", "minLength": 1, "maxLength": MAX_PART_CHARS}

SHARED_DEFINITIONS: dict[str, Schema] = {
    "Trimmed": strings.TRIMMED,
    "Verbatim": strings.VERBATIM,
    "Url": strings.URL,
    "Country": {"title": "ISO 3166-1 alpha-2", "enum": sorted(ALPHA_2)},
    "Currency": {"title": "ISO 4217, including codes withdrawn since 1999", "enum": sorted(CODES)},
    "Address": {
        "anyOf": [
            _ADDRESS_PART,
            {
                "type": "object",
                "properties": dict.fromkeys(PARTS, _ADDRESS_PART),
                "additionalProperties": False,
                "minProperties": 1,
            },
        ]
    },
}
"""The definitions under `$defs` that are shared by the values of many fields."""
