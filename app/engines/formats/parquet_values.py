"""Convert labels to typed values for Parquet columns, without pyarrow.

If a column cannot hold a value, for example because the field had another type in an older schema
version, the value is null in the column and is kept in `other_labels`.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import partial
from math import isfinite
from typing import Any, TypeAlias

from app.engines.formats.model import Field
from app.engines.formats.parsing import dump_json

Convert: TypeAlias = Callable[[Any], Any]

DECIMAL_DIGITS, DECIMAL_SCALE = 38, 9
"""The precision and scale of amounts, as in BigQuery's NUMERIC type."""
AMOUNT_PATTERN = re.compile(
    rf"-?[0-9]{{1,{DECIMAL_DIGITS - DECIMAL_SCALE}}}(?:\.[0-9]{{1,{DECIMAL_SCALE}}})?"
)
"""The pattern for amounts that fit the amount column."""
_MIN_INT64, _MAX_INT64 = -(2**63), 2**63 - 1


class UnfitValueError(ValueError):
    """A value does not fit the column for its field."""


def is_text(field: Field) -> bool:
    """Return whether the field's label is a single string, which needs no conversion."""
    return not field.get("multiple") and field["type"] not in ("table", *_CONVERTERS)


def build_converter(field: Field) -> Convert:
    """Return a function that converts a field's label to a typed value.

    The function raises ValueError or OverflowError if the label does not fit the column.
    """
    if field["type"] == "table":
        columns = {column["key"]: build_converter(column) for column in field["columns"]}
        return _build_list_converter(lambda row: _convert_table_row(columns, row))
    convert = _CONVERTERS.get(field["type"], _convert_text)
    return _build_list_converter(convert) if field.get("multiple") else _allow_null(convert)


def _allow_null(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _build_list_converter(convert: Convert) -> Convert:
    """Return a function that converts each item of a list.

    A single value, for example from another schema version, becomes a list.
    """
    convert_item = _allow_null(convert)

    def convert_list(value: object) -> list[Any]:
        return [convert_item(item) for item in (value if isinstance(value, list) else [value])]

    return convert_list


def _convert_table_row(columns: Mapping[str, Convert], row: object) -> dict[str, Any]:
    if not isinstance(row, Mapping) or not row.keys() <= columns.keys():
        raise UnfitValueError
    return {key: columns[key](value) for key, value in row.items()}


def _convert_text(value: object) -> str:
    if not isinstance(value, str):
        raise UnfitValueError
    return value


def _convert_address(value: object) -> str:
    return dump_json(value) if isinstance(value, dict) else _convert_text(value)


def _convert_number(value: object) -> float:
    if type(value) is not int and type(value) is not float:
        raise UnfitValueError
    if not isfinite(value) or float(value) != value:
        raise UnfitValueError
    return float(value)


def _convert_integer(value: object) -> int:
    if type(value) is not int or not _MIN_INT64 <= value <= _MAX_INT64:
        raise UnfitValueError
    return value


def _convert_boolean(value: object) -> bool:
    if type(value) is not bool:
        raise UnfitValueError
    return value


def _convert_money(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping) or value.keys() != {"amount", "currency"}:
        raise UnfitValueError
    amount, currency = value["amount"], value["currency"]
    if not isinstance(amount, str) or not AMOUNT_PATTERN.fullmatch(amount):
        raise UnfitValueError
    return {
        "amount": Decimal(amount),
        "currency": None if currency is None else _convert_text(currency),
    }


def _convert_iso(type_: type[date] | type[time], value: object) -> date | time:
    converted_value = type_.fromisoformat(_convert_text(value))
    if converted_value.isoformat() != value:
        raise UnfitValueError
    return converted_value


def _convert_datetime(value: object) -> datetime:
    converted_value = datetime.fromisoformat(_convert_text(value))
    if converted_value.tzinfo is None:
        raise UnfitValueError
    return converted_value.astimezone(UTC)


_CONVERTERS: Mapping[str, Convert] = {
    "number": _convert_number,
    "integer": _convert_integer,
    "boolean": _convert_boolean,
    "money": _convert_money,
    "date": partial(_convert_iso, date),
    "time": partial(_convert_iso, time),
    "datetime": _convert_datetime,
    "address": _convert_address,
}
