"""Convert label values to workbook cells: numbers, booleans, dates or text."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any, TypeAlias

from app.engines.formats.cells import EscapeText, build_cell_converter, format_cell, is_number
from app.engines.formats.model import Field

Cell: TypeAlias = str | int | float | bool | date | None
ValueConverter: TypeAlias = Callable[[Any], list[Any]]

MAX_TEXT_LENGTH = 32_767
"""The maximum length of the text in a cell, in UTF-16 code units."""
_MAX_DIGITS = 15
"""The maximum number of significant digits that Excel shows."""
_FIRST_DATE = date(1900, 3, 1)
"""The first date that all programs store as the same number.

Excel counts 29 February 1900, a day that did not exist. Other programs do not count this day.
"""
_LINE_BREAK = re.compile("\r\n?")
_SURROGATE = re.compile("[\ud800-\udfff]")


def build_converter(field: Field, separator: str, escape: EscapeText) -> ValueConverter:
    """Return a function that converts a field's value, or list of values, to cells.

    The function returns one cell for each header of the field, and joins a list into one string. A
    value that does not have the field's type, or that Excel cannot store exactly, becomes text.
    """
    convert_to_text = build_cell_converter(field, separator, escape)
    convert = _CONVERTERS.get(field["type"])
    if convert is None:
        return convert_to_text

    def convert_to_cells(value: object) -> list[Any]:
        cells = convert(value)
        return convert_to_text(value) if cells is None else cells

    return convert_to_cells


def build_common_cell(value: object, separator: str, escape: EscapeText) -> Cell:
    """Convert a value of one of the COMMON_HEADERS columns to a cell."""
    if isinstance(value, bool | int) and abs(value) < 10**_MAX_DIGITS:
        return value
    return format_cell(value, separator, escape)


def encode_text(text: str) -> str:
    """Encode text for XlsxWriter, and truncate it to the maximum length of a cell.

    XlsxWriter itself encodes control characters as `_xHHHH_` (ISO 29500, ST_Xstring).
    """
    text = _SURROGATE.sub("?", _LINE_BREAK.sub("\n", text))
    if text.startswith("<r>") and text.endswith("</r>"):
        text += " "  # XlsxWriter would treat the text as markup and not escape it
    if len(text) * 2 > MAX_TEXT_LENGTH:
        units = text.encode("utf-16-le")
        if len(units) > 2 * MAX_TEXT_LENGTH:
            text = units[: 2 * (MAX_TEXT_LENGTH - 1)].decode("utf-16-le", "ignore") + "…"
    return text


def _convert_number(value: object) -> list[Cell] | None:
    """Return a number as a cell, or None if Excel would not show all its digits."""
    if type(value) is not int and type(value) is not float:
        return None
    if abs(value) >= 10**_MAX_DIGITS:
        return None
    return [value] if float(f"{value:.{_MAX_DIGITS}G}") == value else None


def _convert_boolean(value: object) -> list[Cell] | None:
    return [value] if type(value) is bool else None


def _convert_money(value: object) -> list[Cell] | None:
    if not isinstance(value, Mapping):
        return None
    amount, currency = value.get("amount"), value.get("currency")
    if not isinstance(amount, str) or not isinstance(currency, str) or not currency.isalpha():
        return None
    digits = amount.replace("-", "").replace(".", "")
    return [float(amount), currency] if is_number(amount) and len(digits) <= _MAX_DIGITS else None


def _convert_date(value: object) -> list[Cell] | None:
    if not isinstance(value, str):
        return None
    try:
        converted_value = date.fromisoformat(value)
    except ValueError:
        return None
    return (
        [converted_value]
        if converted_value >= _FIRST_DATE and converted_value.isoformat() == value
        else None
    )


def _convert_datetime(value: object) -> list[Cell] | None:
    if not isinstance(value, str):
        return None
    try:
        converted_value = datetime.fromisoformat(value)
    except ValueError:
        return None
    if (
        converted_value.tzinfo is not UTC
        or converted_value.microsecond
        or converted_value.date() < _FIRST_DATE
    ):
        return None
    return [converted_value.replace(tzinfo=None)]


_CONVERTERS: Mapping[str, Callable[[object], list[Cell] | None]] = {
    "number": _convert_number,
    "integer": _convert_number,
    "boolean": _convert_boolean,
    "money": _convert_money,
    "date": _convert_date,
    "datetime": _convert_datetime,
}
