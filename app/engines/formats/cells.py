"""Convert field values to the cells of a spreadsheet, and name its columns."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Any, TypeAlias

from app.engines.formats.model import Field

EscapeText: TypeAlias = Callable[[str], str]
CellConverter: TypeAlias = Callable[[Any], list[str]]
ValueSplitter: TypeAlias = Callable[[Any], Sequence[Any]]

# Characters that can begin a formula (OWASP, "CSV Injection"), their full-width forms, and the
# characters that a spreadsheet may skip before them.
FORMULA_STARTS = frozenset("=+-@\uff1d\uff0b\uff0d\uff20\ufeff") | {chr(code) for code in range(32)}
_SAFE_SEPARATORS = frozenset("|;,")
"""Separators that are not spreadsheet operators, so numbers joined by them are not a formula."""
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def escape_formula(text: str) -> str:
    """Add a leading apostrophe to `text` if a spreadsheet would execute it as a formula.

    Numbers with or without a sign, such as phone numbers, are not changed.
    """
    if text and text[0] in FORMULA_STARTS and not is_number(text):
        return "'" + text
    return text


def is_number(text: str) -> bool:
    """Return whether `text` is a number with or without a sign, such as a phone number."""
    return _NUMBER.fullmatch(text) is not None


def list_column_names(field: Field, path: str) -> list[str]:
    """Return the headers of a field's columns, as pandas.json_normalize would name them.

    `path` is the path of the field in the JSON row. Money has two columns; other types have one.
    """
    return [f"{path}.amount", f"{path}.currency"] if field["type"] == "money" else [path]


def build_value_splitter(field: Field) -> ValueSplitter:
    """Return a function that splits a field's value into one value for each header of the field.

    Money, or a list of money, is split into amounts and currencies. A table becomes JSON text.
    """
    if field["type"] == "money":
        return _split_money
    if field["type"] == "table":
        return lambda value: (None if value is None else _dump_json(value),)
    return lambda value: (value,)


def build_cell_converter(field: Field, separator: str, escape: EscapeText) -> CellConverter:
    """Return a function that converts a field's value, or list of values, to cells.

    The function returns one cell for each header of the field. A value with another type, for
    example from another schema version, is converted to text.
    """
    split = build_value_splitter(field)
    return lambda value: [format_cell(part, separator, escape) for part in split(value)]


def format_cell(value: object, separator: str, escape: EscapeText) -> str:
    """Convert a value to a cell's text.

    List items are joined by `separator`, objects become JSON, and null becomes an empty string.
    `escape` is applied to text that could be a formula.
    """
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, list):
        return _join_values([_format_value(item) for item in value], separator, escape)
    return _format_value(value)  # a number or an object is never a formula


def _join_values(values: list[str], separator: str, escape: EscapeText) -> str:
    """Join values into one cell, and escape the cell if it could be a formula.

    Numbers joined by a safe separator need no escaping. Any other value, or a separator that is an
    operator, could make the whole cell a formula.
    """
    joined_text = separator.join(values)
    if separator.strip(" ") in _SAFE_SEPARATORS and all(
        not item or is_number(item) for item in values
    ):
        return joined_text
    return escape(joined_text)


def _split_money(value: object) -> Sequence[Any]:
    if isinstance(value, list):
        amounts = [_split_amount(item) for item in value]
        return [amount for amount, _ in amounts], [currency for _, currency in amounts]
    return _split_amount(value)


def _split_amount(value: object) -> tuple[Any, Any]:
    if isinstance(value, dict) and "amount" in value:
        return value["amount"], value.get("currency")
    return value, None


def _format_value(value: object) -> str:
    return _FORMATTERS.get(type(value), _dump_json)(value)


# `json.dumps` would create an encoder for each call.
_dump_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_FORMATTERS: Mapping[type, Callable[[Any], str]] = {
    str: str,
    NoneType: lambda _: "",
    bool: lambda value: "true" if value else "false",
    int: repr,
    float: repr,
}
