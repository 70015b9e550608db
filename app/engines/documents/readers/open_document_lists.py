"""Number the items of lists and the headings of OpenDocument texts.

See ODF 1.3, part 3, 5.3 and 16.30. Bullets are omitted.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from lxml import etree  # type: ignore[import-untyped]

from app.engines.documents.readers.numerals import read_number, to_letters, to_roman

_OPEN_DOCUMENT = "urn:oasis:names:tc:opendocument:xmlns:"
_TEXT, _STYLE = (f"{{{_OPEN_DOCUMENT}{name}:1.0}}" for name in ("text", "style"))
_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
LIST, HEADING = _TEXT + "list", _TEXT + "h"
_ITEM = _TEXT + "list-item"
_STYLES = (_TEXT + "list-style", _TEXT + "outline-style")
_MAX_AFFIX_LENGTH = 32
_OUTLINE = "#outline"
"""The name under which headings outside lists are counted. Names of styles have no `#`."""


class _Level(NamedTuple):
    """A level of a list: how its numbers are displayed."""

    number_format: str  # `1`, `a`, `A`, `i`, `I`, or empty for no number
    prefix: str
    suffix: str
    start: int
    displayed_levels: int
    repeats_letters: bool


class _OpenList(NamedTuple):
    style: str
    numbers: dict[int, int]  # by level; shared by the lists that continue one another


class ListNumbers:
    """The styles of a document's lists, and the numbers that its items so far have used."""

    def __init__(self, roots: Iterable[etree._Element | None]) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        for root in roots:
            for style in () if root is None else root.iter(*_STYLES):
                is_outline = style.tag.endswith("outline-style")
                name = _OUTLINE if is_outline else style.get(_STYLE + "name", "")
                self._levels[name] = _read_levels(style)
        self._open: list[_OpenList] = []
        self._last_numbers: dict[str, dict[int, int]] = {_OUTLINE: {}}  # by style
        self._numbers_by_id: dict[str, dict[int, int]] = {}
        self._item: etree._Element | None = None  # the item whose number was not displayed yet

    @contextmanager
    def enter_list(self, element: etree._Element) -> Iterator[None]:
        """Count the items of a list while the block runs."""
        outer = self._open[-1] if self._open else None
        style = element.get(_TEXT + "style-name") or (outer.style if outer else "")
        if outer is not None:
            numbers = outer.numbers
        elif element.get(_TEXT + "continue-numbering") == "true":
            numbers = self._last_numbers.get(style, {})
        else:
            numbers = self._numbers_by_id.get(element.get(_TEXT + "continue-list", ""), {})
        self._last_numbers[style] = numbers
        if element.get(_XML_ID):
            self._numbers_by_id[element.get(_XML_ID)] = numbers
        self._open.append(_OpenList(style, numbers))
        yield
        self._open.pop()
        self._item = None

    def enter_item(self, element: etree._Element) -> None:
        """Start an item of the innermost list. Its first paragraph carries its number."""
        self._item = element if element.tag == _ITEM else None

    def number_paragraph(self, paragraph: etree._Element) -> str:
        """Count a visible paragraph; return its number and a space, or "" if it has no number."""
        item, self._item = self._item, None
        if item is not None and self._open:
            style, numbers = self._open[-1]
            level, start = len(self._open), item.get(_TEXT + "start-value")
        elif paragraph.tag == HEADING and not self._open:
            if paragraph.get(_TEXT + "is-list-header") == "true":
                return ""
            style, numbers = _OUTLINE, self._last_numbers[_OUTLINE]
            level = read_number(paragraph.get(_TEXT + "outline-level"), 1)
            start = paragraph.get(_TEXT + "start-value")
        else:
            return ""
        levels = self._levels.get(style, {})
        first = levels[level].start if level in levels else 1
        numbers[level] = read_number(start, numbers[level] + 1 if level in numbers else first)
        for deeper in [other for other in numbers if other > level]:
            del numbers[deeper]
        return _format_number(levels, level, numbers)


def _read_levels(style: etree._Element) -> dict[int, _Level]:
    return {
        read_number(level.get(_TEXT + "level"), 1): _Level(
            number_format=level.get(_STYLE + "num-format", ""),
            prefix=level.get(_STYLE + "num-prefix", "")[:_MAX_AFFIX_LENGTH],
            suffix=level.get(_STYLE + "num-suffix", "")[:_MAX_AFFIX_LENGTH],
            start=read_number(level.get(_TEXT + "start-value"), 1),
            displayed_levels=read_number(level.get(_TEXT + "display-levels"), 1),
            repeats_letters=level.get(_STYLE + "num-letter-sync") == "true",
        )
        for level in style
        if isinstance(level.tag, str)
    }


def _format_number(levels: dict[int, _Level], index: int, numbers: dict[int, int]) -> str:
    level = levels.get(index)
    if level is None or not level.number_format:
        return ""
    first = max(1, index - level.displayed_levels + 1)
    shown = [
        _format_level(levels[other], numbers.get(other, levels[other].start))
        for other in range(first, index + 1)
        if other in levels and levels[other].number_format
    ]
    return f"{level.prefix}{'.'.join(shown)}{level.suffix}".strip() + " "


def _format_level(level: _Level, number: int) -> str:
    letters = partial(to_letters, repeat=level.repeats_letters)
    formats: dict[str, Callable[[int], str]] = {"a": letters, "i": to_roman}
    text = formats.get(level.number_format.lower(), str)(number)
    return text.upper() if level.number_format.isupper() else text
