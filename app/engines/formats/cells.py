"""Convert label values to the cells of a spreadsheet."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from app.engines.formats.model import Field

Guard: TypeAlias = Callable[[str], str]
Cells: TypeAlias = Callable[[Any], list[str]]

# OWASP, "CSV Injection": also their full-width forms, and what a program may skip before them.
_RISKY = frozenset("=+-@\uff1d\uff0b\uff0d\uff20\ufeff") | {chr(code) for code in range(32)}
_SEPARATORS = frozenset("|;,")
"""What joins numbers without making a formula of them: no operator of a spreadsheet."""
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def guarded(text: str) -> str:
    """`text` that no spreadsheet takes for a formula: with an apostrophe before it if need be.

    Plain numbers with or without a sign, phone numbers among them, stay as they are.
    """
    if text and text[0] in _RISKY and not is_number(text):
        return "'" + text
    return text


def is_number(text: str) -> bool:
    """Return whether `text` is a number with or without a sign, such as a phone number."""
    return _NUMBER.fullmatch(text) is not None


def bare(text: str) -> str:
    """`text` as it is."""
    return text


def headers_of(field: Field, path: str) -> list[str]:
    """Return the column names of a field at `path`, as pandas.json_normalize would name them."""
    return [f"{path}.amount", f"{path}.currency"] if field["type"] == "money" else [path]


def cells_of(field: Field, separator: str, guard: Guard) -> Cells:
    """Return a function that converts a field's value, or list of values, to its cells.

    It returns one cell per header. A value of another type, from another version, is kept as text.
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
    """Join the values of a list in one cell. Numbers alone need no guard, as in a cell of one.

    One other text, or an operator between them, may make a formula of the whole cell.
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
