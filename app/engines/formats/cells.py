"""Convert label values to the cells of a spreadsheet."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from app.engines.formats.model import Field

Guard: TypeAlias = Callable[[str], str]
Cells: TypeAlias = Callable[[Any], list[str]]

# Characters that can begin a formula (OWASP, "CSV Injection"), their full-width forms, and the
# characters that a spreadsheet may skip before them.
_RISKY = frozenset("=+-@\uff1d\uff0b\uff0d\uff20\ufeff") | {chr(code) for code in range(32)}
_SEPARATORS = frozenset("|;,")
"""Separators that are not spreadsheet operators, so numbers joined by them are not a formula."""
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def guarded(text: str) -> str:
    """Return `text` with a leading apostrophe if a spreadsheet would execute it as a formula.

    Numbers with or without a sign, such as phone numbers, are not changed.
    """
    if text and text[0] in _RISKY and not is_number(text):
        return "'" + text
    return text


def is_number(text: str) -> bool:
    """Return whether `text` is a number with or without a sign, such as a phone number."""
    return _NUMBER.fullmatch(text) is not None


def bare(text: str) -> str:
    """Return `text` unchanged."""
    return text


def headers_of(field: Field, path: str) -> list[str]:
    """Return the column names of a field at `path`, as pandas.json_normalize would name them."""
    return [f"{path}.amount", f"{path}.currency"] if field["type"] == "money" else [path]


def cells_of(field: Field, separator: str, guard: Guard) -> Cells:
    """Return a function that converts a field's value, or list of values, to its cells.

    The function returns one cell per header. A value of a different type, for example from another
    schema version, is written as text.
    """
    if field["type"] == "money":
        return lambda value: _money(value, separator, guard)
    if field["type"] == "table":
        return lambda value: ["" if value is None else guard(_compact(value))]
    return lambda value: [cell(value, separator, guard)]


def cell(value: object, separator: str, guard: Guard) -> str:
    """Format one cell: lists joined by `separator`, objects as JSON, null as an empty string."""
    if isinstance(value, str):
        return guard(value)
    if value is None:
        return ""
    if isinstance(value, list):
        return _join([_text(one) for one in value], separator, guard)
    text = _text(value)
    return text if isinstance(value, int | float) else guard(text)


def _join(texts: list[str], separator: str, guard: Guard) -> str:
    """Join the values of a list in one cell, and guard the cell if it could be a formula.

    Numbers joined by a safe separator need no guard. Any other text, or an operator as the
    separator, could make the whole cell a formula.
    """
    joined = separator.join(texts)
    if separator.strip(" ") in _SEPARATORS and all(not one or is_number(one) for one in texts):
        return joined
    return guard(joined)


def _money(value: object, separator: str, guard: Guard) -> list[str]:
    if not isinstance(value, list):
        return [cell(part, separator, guard) for part in _parts(value)]
    parts = [_parts(one) for one in value]
    return [cell([pair[side] for pair in parts], separator, guard) for side in (0, 1)]


def _parts(value: object) -> tuple[Any, Any]:
    if isinstance(value, Mapping) and "amount" in value:
        return value["amount"], value.get("currency")
    return value, None


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return _compact(value)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
