"""Number the list items and the headings of OpenDocument text documents.

See ODF 1.3, part 3, 5.3 and 16.30. Bullets are omitted.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from lxml import etree  # type: ignore[import-untyped]

from app.engines.documents.readers.numerals import format_number, read_number
from app.engines.documents.readers.open_document_xml import STYLE, TEXT

_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
LIST, HEADING = TEXT + "list", TEXT + "h"
_ITEM = TEXT + "list-item"
_STYLES = (TEXT + "list-style", TEXT + "outline-style")
_MAX_AFFIX_LENGTH = 32
_OUTLINE = "#outline"
"""The name under which headings outside lists are counted. Style names cannot contain `#`."""


class _Level(NamedTuple):
    """A level of a list: how its numbers are displayed."""

    number_format: str  # `1`, `a`, `A`, `i`, `I`, or empty for no number
    prefix: str
    suffix: str
    start: int
    displayed_level_count: int
    repeats_letters: bool


class _OpenList(NamedTuple):
    style_name: str
    numbers: dict[int, int]  # by level; shared by the lists that continue each other


class ListNumbers:
    """The list styles of a document, and the numbers of the items that have been counted."""

    def __init__(self, roots: Iterable[etree._Element | None]) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        for root in roots:
            for style in () if root is None else root.iter(*_STYLES):
                is_outline = style.tag.endswith("outline-style")
                name = _OUTLINE if is_outline else style.get(STYLE + "name", "")
                self._levels[name] = _read_levels(style)
        self._open_lists: list[_OpenList] = []
        self._last_numbers: dict[str, dict[int, int]] = {_OUTLINE: {}}  # by style name
        self._numbers_by_id: dict[str, dict[int, int]] = {}
        self._item: etree._Element | None = None  # the item whose number is pending

    @contextmanager
    def enter_list(self, element: etree._Element) -> Iterator[None]:
        """Enter a list for a `with` block; items that are entered in the block belong to it."""
        outer_list = self._open_lists[-1] if self._open_lists else None
        name = element.get(TEXT + "style-name") or (outer_list.style_name if outer_list else "")
        if outer_list is not None:
            numbers = outer_list.numbers
        elif element.get(TEXT + "continue-numbering") == "true":
            numbers = self._last_numbers.get(name, {})
        else:
            numbers = self._numbers_by_id.get(element.get(TEXT + "continue-list", ""), {})
        self._last_numbers[name] = numbers
        if element.get(_XML_ID):
            self._numbers_by_id[element.get(_XML_ID)] = numbers
        self._open_lists.append(_OpenList(name, numbers))
        yield
        self._open_lists.pop()
        self._item = None

    def enter_item(self, element: etree._Element) -> None:
        """Start an item of the innermost list. The item's number precedes its first paragraph."""
        self._item = element if element.tag == _ITEM else None

    def number_paragraph(self, paragraph: etree._Element) -> str:
        """Count a visible paragraph; return its number and a space, or "" if it has no number."""
        item, self._item = self._item, None
        if item is not None and self._open_lists:
            name, numbers = self._open_lists[-1]
            level, start = len(self._open_lists), item.get(TEXT + "start-value")
        elif paragraph.tag == HEADING and not self._open_lists:
            if paragraph.get(TEXT + "is-list-header") == "true":
                return ""
            name, numbers = _OUTLINE, self._last_numbers[_OUTLINE]
            level = read_number(paragraph.get(TEXT + "outline-level"), 1)
            start = paragraph.get(TEXT + "start-value")
        else:
            return ""
        levels = self._levels.get(name, {})
        first = levels[level].start if level in levels else 1
        numbers[level] = read_number(start, numbers[level] + 1 if level in numbers else first)
        for deeper_level in [key for key in numbers if key > level]:
            del numbers[deeper_level]
        return _format_number(levels, level, numbers)


def _read_levels(style: etree._Element) -> dict[int, _Level]:
    return {
        read_number(level.get(TEXT + "level"), 1): _Level(
            number_format=level.get(STYLE + "num-format", ""),
            prefix=level.get(STYLE + "num-prefix", "")[:_MAX_AFFIX_LENGTH],
            suffix=level.get(STYLE + "num-suffix", "")[:_MAX_AFFIX_LENGTH],
            start=read_number(level.get(TEXT + "start-value"), 1),
            displayed_level_count=read_number(level.get(TEXT + "display-levels"), 1),
            repeats_letters=level.get(STYLE + "num-letter-sync") == "true",
        )
        for level in style
        if isinstance(level.tag, str)
    }


def _format_number(levels: dict[int, _Level], index: int, numbers: dict[int, int]) -> str:
    level = levels.get(index)
    if level is None or not level.number_format:
        return ""
    first = max(1, index - level.displayed_level_count + 1)
    parts = [
        format_number(
            numbers.get(key, levels[key].start),
            levels[key].number_format,
            repeat_letters=levels[key].repeats_letters,
        )
        for key in range(first, index + 1)
        if key in levels and levels[key].number_format
    ]
    return f"{level.prefix}{'.'.join(parts)}{level.suffix}".strip() + " "
