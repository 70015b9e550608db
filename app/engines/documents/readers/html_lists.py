"""Number the items of ordered lists in HTML (WHATWG HTML, 4.4.5 and 4.4.8)."""

import re

from lxml import etree  # type: ignore[import-untyped]

from app.engines.documents.readers.numerals import format_number

_INTEGER = re.compile(r"\s*([+-]?[0-9]{1,9})(?![0-9])")
_UNNUMBERED_STYLE = re.compile(
    r"(?<![\w-])list-style(?:-type)?\s*:[^;]*?\b(?:none|disc|circle|square)\b", re.IGNORECASE
)


class ItemNumbers:
    """Counts the items of each ordered list, and formats their numbers."""

    def __init__(self) -> None:
        self._next_numbers: dict[etree._Element, int] = {}

    def number_item(self, item: etree._Element) -> str:
        """Count an item; return its number with a period and a space, or "" if it has none."""
        numbered_list = item.getparent()
        if numbered_list is None or numbered_list.tag != "ol":
            return ""
        number = _read_integer(item.get("value"))
        is_reversed = numbered_list.get("reversed") is not None
        if number is None:
            number = self._next_numbers.get(numbered_list)
        if number is None:
            number = _read_integer(numbered_list.get("start"))
        if number is None:
            number = len(numbered_list.findall("li")) if is_reversed else 1
        self._next_numbers[numbered_list] = number - 1 if is_reversed else number + 1
        if any(_UNNUMBERED_STYLE.search(part.get("style", "")) for part in (numbered_list, item)):
            return ""
        style = item.get("type") or numbered_list.get("type", "")
        return f"{format_number(number, style)}. "


def _read_integer(value: str | None) -> int | None:
    match = _INTEGER.match(value or "")
    return int(match[1]) if match else None
