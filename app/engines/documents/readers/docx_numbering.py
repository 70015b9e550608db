"""Number the paragraphs of a Word document as Word displays them (ECMA-376, 17.9).

Word does not store the numbers of clauses, headings and list items. It stores a list and a level
for each paragraph, and computes the numbers by counting. Bullets are omitted.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from lxml import etree  # type: ignore[import-untyped]

from app.engines.documents.readers.docx_styles import (
    WORD_NAMESPACE,
    Styles,
    get_on_off_value,
    get_style_id,
    get_value,
)
from app.engines.documents.readers.numerals import format_number, read_number

_MAX_LEVEL = 8
_MAX_TEXT_LENGTH = 255
_PLACEHOLDER = re.compile("%([1-9])")
_NO_LIST = "0"


def _format_as_ordinal(number: int) -> str:
    is_teen = number // 10 % 10 == 1
    return f"{number}{'th' if is_teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


_FORMATS: dict[str, Callable[[int], str]] = {
    "decimalZero": "{:02}".format,
    "lowerLetter": partial(format_number, style="a", repeat_letters=True),
    "lowerRoman": partial(format_number, style="i"),
    "none": lambda _number: "",
    "ordinal": _format_as_ordinal,
    "upperLetter": partial(format_number, style="A", repeat_letters=True),
    "upperRoman": partial(format_number, style="I"),
}
"""The functions that format a number, by Word's name of the format. Other formats give digits."""


class _Level(NamedTuple):
    """A level of a list: how its numbers are counted and displayed."""

    start: int
    number_format: str
    text: str  # with placeholders for the numbers of levels, for example `%1.%2`
    restart: int  # the numbers restart after a paragraph whose level index is less than this value
    is_legal: bool  # whether the numbers of all levels are displayed in digits
    suffix: str
    style_id: str | None  # paragraphs of this style have this level if they specify no level


class _List(NamedTuple):
    """A numbered list. Lists with the same definition continue each other's numbers."""

    definition_id: str
    levels: dict[int, _Level]
    starts: dict[int, int]  # the numbers at which levels of this list restart


class Numbering:
    """The numbered lists of a document, and the current number of each list level."""

    def __init__(self, root: etree._Element | None, styles: Styles) -> None:
        self._styles = styles
        self._list_elements: dict[str, etree._Element] = {}
        self._definitions: dict[str, etree._Element] = {}
        for element in () if root is None else root:
            if element.tag == WORD_NAMESPACE + "num":
                self._list_elements[element.get(WORD_NAMESPACE + "numId")] = element
            elif element.tag == WORD_NAMESPACE + "abstractNum":
                self._definitions[element.get(WORD_NAMESPACE + "abstractNumId")] = element
        self._lists_by_id: dict[str, _List | None] = {}
        self._numbers: dict[str, dict[int, int]] = {}  # by definition and level
        self._started_levels: set[tuple[str, int]] = set()

    def start_part(self) -> None:
        """Reset all numbers. Each part, such as the body or a header, is numbered separately."""
        self._numbers.clear()
        self._started_levels.clear()

    def number_paragraph(self, paragraph: etree._Element) -> str:
        """Count a visible paragraph; return its number and suffix, or "" if it has no number."""
        list_id, index = self._find_list_id_and_level(paragraph)
        used_list = None if list_id is None else self._read_list(list_id)
        if list_id is None or used_list is None or _is_mark_hidden(paragraph):
            return ""
        if index is None:
            index = _find_level_of_style(used_list, get_style_id(paragraph))
        level = used_list.levels.get(index)
        if level is None:
            return ""
        numbers = self._numbers.setdefault(used_list.definition_id, {})
        starts_level = (list_id, index) not in self._started_levels
        self._started_levels.add((list_id, index))
        if starts_level and index in used_list.starts:
            numbers[index] = used_list.starts[index]
        else:
            numbers[index] = numbers[index] + 1 if index in numbers else level.start
        for deeper_index in [key for key in numbers if key > index]:
            # Another list with the same definition may have overridden a level that this one lacks.
            deeper_level = used_list.levels.get(deeper_index)
            if deeper_level is None or index < deeper_level.restart:
                del numbers[deeper_index]
        return _format_paragraph_number(used_list, level, numbers)

    def _find_list_id_and_level(self, paragraph: etree._Element) -> tuple[str | None, int | None]:
        """Return the list id and the level of a paragraph; either is None if not specified.

        The list id is also None if the paragraph specifies that it belongs to no list.
        """
        sources = [paragraph, *self._styles.iterate_style_and_bases(get_style_id(paragraph))]
        list_id = level = None
        for source in sources:
            properties = source.find(f"{WORD_NAMESPACE}pPr/{WORD_NAMESPACE}numPr")
            list_id = list_id or get_value(properties, "numId")
            if level is None and (value := get_value(properties, "ilvl")) is not None:
                level = read_number(value, 0)
        return (None if list_id == _NO_LIST else list_id), level

    def _read_list(self, list_id: str) -> _List | None:
        if list_id not in self._lists_by_id:
            self._lists_by_id[list_id] = self._build_list(list_id)
        return self._lists_by_id[list_id]

    def _build_list(self, list_id: str) -> _List | None:
        element = self._list_elements.get(list_id)
        definition_id = get_value(element, "abstractNumId")
        if element is None or definition_id not in self._definitions:
            return None
        definition = self._definitions[definition_id]
        style_id = get_value(definition, "numStyleLink")
        if style_id is not None:
            linked_id = get_value(self._find_list_of_style(style_id), "abstractNumId")
            definition = self._definitions.get(linked_id or "", definition)
            definition_id = linked_id or definition_id
        levels = _read_levels(definition)
        starts: dict[int, int] = {}
        for override in element.iterchildren(WORD_NAMESPACE + "lvlOverride"):
            levels |= _read_levels(override)
            start = get_value(override, "startOverride")
            if start is not None:
                starts[_read_level_index(override)] = read_number(start, 1)
        return _List(definition_id, levels, starts)

    def _find_list_of_style(self, style_id: str) -> etree._Element | None:
        for style in self._styles.iterate_style_and_bases(style_id):
            list_id = get_value(style.find(f"{WORD_NAMESPACE}pPr/{WORD_NAMESPACE}numPr"), "numId")
            if list_id is not None:
                return self._list_elements.get(list_id)
        return None


def _is_mark_hidden(paragraph: etree._Element) -> bool:
    """Return whether the paragraph mark, which carries the number, is hidden, deleted or moved."""
    mark = paragraph.find(f"{WORD_NAMESPACE}pPr/{WORD_NAMESPACE}rPr")
    if mark is None:
        return False
    is_removed = any(mark.find(WORD_NAMESPACE + name) is not None for name in ("del", "moveFrom"))
    return is_removed or get_on_off_value(mark, "vanish") is True


def _find_level_of_style(used_list: _List, style_id: str | None) -> int:
    indexes = (index for index, level in used_list.levels.items() if level.style_id == style_id)
    return next(indexes, 0) if style_id is not None else 0


def _read_levels(parent: etree._Element) -> dict[int, _Level]:
    levels = {}
    for element in parent.iterchildren(WORD_NAMESPACE + "lvl"):
        index = _read_level_index(element)
        levels[index] = _Level(
            start=read_number(get_value(element, "start"), 0),
            number_format=get_value(element, "numFmt") or "decimal",
            text=(get_value(element, "lvlText") or "")[:_MAX_TEXT_LENGTH],
            restart=read_number(get_value(element, "lvlRestart"), index),
            is_legal=get_on_off_value(element, "isLgl") is True,
            suffix="" if get_value(element, "suff") == "nothing" else " ",
            style_id=get_value(element, "pStyle"),
        )
    return levels


def _read_level_index(element: etree._Element) -> int:
    return min(read_number(element.get(WORD_NAMESPACE + "ilvl"), 0), _MAX_LEVEL)


def _format_paragraph_number(used_list: _List, level: _Level, numbers: dict[int, int]) -> str:
    def format_level(placeholder: re.Match[str]) -> str:
        index = int(placeholder[1]) - 1
        referenced_level = used_list.levels.get(index)
        if referenced_level is None:
            return ""
        number = numbers.get(index, referenced_level.start)
        number_format = "decimal" if level.is_legal else referenced_level.number_format
        return _FORMATS.get(number_format, str)(number)

    if level.number_format == "bullet":
        return ""
    text = _PLACEHOLDER.sub(format_level, level.text).strip()
    return text and text + level.suffix
