"""Number the paragraphs of a presentation as PowerPoint displays them (ECMA-376, 21.1.2.4).

A paragraph, or a style for its level, specifies the scheme of its number. Paragraphs are counted
separately in each shape or cell. Bullets are omitted.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lxml import etree  # type: ignore[import-untyped]
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.shapes.autoshape import Shape
from pptx.slide import Slide

from app.engines.documents.readers.numerals import format_number, read_number

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_PRESENTATION = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_BODY = _PRESENTATION + "txBody"
_LIST_STYLE = _DRAWING + "lstStyle"
_NUMBER = _DRAWING + "buAutoNum"
_NUMBER_OR_BULLET_TAGS = (_NUMBER, *(_DRAWING + name for name in ("buNone", "buChar", "buBlip")))
_SCHEME = re.compile(r"(alphaLc|alphaUc|romanLc|romanUc|.*?)(ParenBoth|ParenR|Period|Minus|)")
_STYLES = {"alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}
"""The style for `format_number` by numbering scheme. Other schemes give digits."""
_AFFIXES = {"ParenBoth": "({})", "ParenR": "{})", "Period": "{}.", "Minus": "{}-"}
_TITLES = {PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE}
_FOOTERS = {PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER}


class _Count(NamedTuple):
    """The scheme, the first number and the last number of the paragraphs at one level."""

    scheme: str
    start: int
    number: int


def find_inherited_styles(slide: Slide, shape: Shape) -> list[etree._Element]:
    """Return the elements that style the levels of a placeholder's paragraphs, the closest first.

    A placeholder inherits these styles from the slide's layout and master. Returns an empty list
    for shapes that are not placeholders, for dates, footers and slide numbers, and if neither the
    layout nor the master numbers paragraphs.
    """
    if not shape.is_placeholder:
        return []
    layout = slide.slide_layout
    master = layout.slide_master
    sources = (layout.element, master.element)
    if all(next(source.iter(_NUMBER), None) is None for source in sources):
        return []
    base = layout.placeholders.get(shape.placeholder_format.idx)
    placeholder_type = (base or shape).placeholder_format.type
    if placeholder_type in _FOOTERS:
        return []
    is_title = placeholder_type in _TITLES
    outer = master.placeholders.get(PP_PLACEHOLDER.TITLE if is_title else PP_PLACEHOLDER.BODY)
    bodies = [item.element.find(_BODY) for item in (base, outer) if item is not None]
    text_styles = master.element.find(_PRESENTATION + "txStyles")
    name = _PRESENTATION + ("titleStyle" if is_title else "bodyStyle")
    styles = [
        *(None if body is None else body.find(_LIST_STYLE) for body in bodies),
        None if text_styles is None else text_styles.find(name),
    ]
    return [style for style in styles if style is not None]


def number_paragraphs(
    body: etree._Element, inherited_styles: Sequence[etree._Element]
) -> Iterator[str]:
    """Yield each paragraph's number, followed by a space, or "" if it has no number.

    Paragraphs without text are not counted. `inherited_styles` comes from `find_inherited_styles`.
    """
    body_style = body.find(_LIST_STYLE)
    styles = [*([] if body_style is None else [body_style]), *inherited_styles]
    counts: dict[int, _Count] = {}  # by level
    for paragraph in body.iterchildren(_DRAWING + "p"):
        if not "".join(paragraph.itertext()).strip():
            yield ""
            continue
        properties = paragraph.find(_DRAWING + "pPr")
        level = 0 if properties is None else read_number(properties.get("lvl"), 0)
        level_styles = (style.find(f"{_DRAWING}lvl{level + 1}pPr") for style in styles)
        element = _find_number_or_bullet((properties, *level_styles))
        last = counts.get(level)
        counts = {key: count for key, count in counts.items() if key < level}
        if element is None or element.tag != _NUMBER:
            yield ""
            continue
        scheme, start = element.get("type", ""), read_number(element.get("startAt"), 1)
        is_next = last is not None and (last.scheme, last.start) == (scheme, start)
        number = last.number + 1 if last is not None and is_next else start
        counts[level] = _Count(scheme, start, number)
        yield _format_number(scheme, number) + " "


def _find_number_or_bullet(sources: Sequence[etree._Element | None]) -> etree._Element | None:
    """Return the first specification of a number or a bullet in `sources`, or None.

    The sources are the paragraph's own properties and then its styles, the closest first.
    """
    for source in sources:
        for element in () if source is None else source.iterchildren(*_NUMBER_OR_BULLET_TAGS):
            return element
    return None


def _format_number(scheme: str, number: int) -> str:
    match = _SCHEME.fullmatch(scheme)
    style, affixes = match.groups() if match else ("", "")
    return _AFFIXES.get(affixes, "{}").format(format_number(number, _STYLES.get(style, "")))
