"""Convert labels to the typed values of Parquet columns, without pyarrow.

A value that its column cannot hold, for example from a version in which the field had another type,
is null in its column and is kept in `other_labels`.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any, TypeAlias

from app.engines.formats.model import Field
from app.engines.formats.parsing import dump_json

Convert: TypeAlias = Callable[[Any], Any]

DECIMAL_DIGITS, DECIMAL_SCALE = 38, 9
"""The precision and scale of amounts, the same as for NUMERIC in BigQuery."""
AMOUNT = re.compile(
    rf"-?[0-9]{{1,{DECIMAL_DIGITS - DECIMAL_SCALE}}}(?:\.[0-9]{{1,{DECIMAL_SCALE}}})?"
)
"""The pattern of an amount that fits the amount column."""
_MIN_INT64, _MAX_INT64 = -(2**63), 2**63 - 1


class UnfitValueError(ValueError):
    """A value that its column cannot hold."""


def is_text(field: Field) -> bool:
    """Return whether a label of the field is a single text, which needs no conversion."""
    return not field.get("multiple") and field["type"] not in ("table", *_CONVERTERS)


def build_converter(field: Field) -> Convert:
    """Return a function that converts a label of the field.

    The function raises ValueError or OverflowError for a label that does not fit.
    """
    if field["type"] == "table":
        columns = {column["key"]: build_converter(column) for column in field["columns"]}
        return _build_list_converter(lambda row: _convert_table_row(columns, row))
    convert = _CONVERTERS.get(field["type"], _convert_text)
    return _build_list_converter(convert) if field.get("multiple") else _skip_null(convert)


def _skip_null(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _build_list_converter(convert: Convert) -> Convert:
    """Return a converter of lists; a single value from another version becomes a list."""
    convert_item = _skip_null(convert)

    def convert_list(value: Any) -> list[Any]:
        return [convert_item(item) for item in (value if isinstance(value, list) else [value])]

    return convert_list


def _convert_table_row(columns: Mapping[str, Convert], row: Any) -> dict[str, Any]:
    if not isinstance(row, Mapping) or not row.keys() <= columns.keys():
        raise UnfitValueError
    return {key: columns[key](value) for key, value in row.items()}


def _convert_text(value: Any) -> str:
    if not isinstance(value, str):
        raise UnfitValueError
    return value


def _convert_address(value: Any) -> str:
    return dump_json(value) if isinstance(value, dict) else _convert_text(value)


def _convert_number(value: Any) -> float:
    if type(value) not in (int, float) or not isfinite(value) or float(value) != value:
        raise UnfitValueError
    return float(value)


def _convert_integer(value: Any) -> int:
    if type(value) is not int or not _MIN_INT64 <= value <= _MAX_INT64:
        raise UnfitValueError
    return value


def _convert_boolean(value: Any) -> bool:
    if type(value) is not bool:
        raise UnfitValueError
    return value


def _convert_money(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or value.keys() != {"amount", "currency"}:
        raise UnfitValueError
    amount, currency = value["amount"], value["currency"]
    if not isinstance(amount, str) or not AMOUNT.fullmatch(amount):
        raise UnfitValueError
    return {
        "amount": Decimal(amount),
        "currency": None if currency is None else _convert_text(currency),
    }


def _convert_date(value: Any) -> date:
    converted = date.fromisoformat(_convert_text(value))
    if converted.isoformat() != value:
        raise UnfitValueError
    return converted


def _convert_time(value: Any) -> time:
    converted = time.fromisoformat(_convert_text(value))
    if converted.isoformat() != value:
        raise UnfitValueError
    return converted


def _convert_datetime(value: Any) -> datetime:
    converted = datetime.fromisoformat(_convert_text(value))
    if converted.tzinfo is None:
        raise UnfitValueError
    return converted.astimezone(UTC)


_CONVERTERS: Mapping[str, Convert] = {
    "number": _convert_number,
    "integer": _convert_integer,
    "boolean": _convert_boolean,
    "money": _convert_money,
    "date": _convert_date,
    "time": _convert_time,
    "datetime": _convert_datetime,
    "address": _convert_address,
}
