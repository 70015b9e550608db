"""Read PPTX with python-pptx: the visible slides, each on its own page.

The shapes of a slide are read in drawing order. Paragraphs are lines; the rows of a table are lines
with a tab between cells. Equations are written on one line. Speaker notes, charts, and hidden
slides and shapes are left out.
"""

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import pptx
from lxml import etree  # type: ignore[import-untyped]
from pptx.exc import PythonPptxError
from pptx.shapes.autoshape import Shape
from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape
from pptx.slide import Slide

from app.engines.documents.model import Limits, ParseFailed
from app.engines.documents.readers.archives import check_archive
from app.engines.documents.readers.equations import EQUATION, format_equation
from app.engines.documents.readers.presentation_lists import (
    find_inherited_styles,
    number_paragraphs,
)
from app.engines.documents.text import clean_text

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_PRESENTATION = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_UNREADABLE = "The file is damaged or not a PowerPoint presentation."


def extract_text(file: BinaryIO, limits: Limits) -> str:
    """Return the text of the visible slides, separated by form feeds. Raises `ParseFailed`."""
    try:
        pages = [_build_page_text(slide) for slide in list_slides(file, limits)]
    except (PythonPptxError, KeyError, ValueError, etree.XMLSyntaxError) as error:
        raise ParseFailed("unreadable", _UNREADABLE) from error
    return clean_text("\f".join(pages))


def list_slides(file: BinaryIO, limits: Limits) -> list[Slide]:
    """Return the visible slides of a file as python-pptx objects. Raises `ParseFailed`."""
    check_archive(
        file,
        limits,
        damaged_message=_UNREADABLE,
        older_format_message="The file has an older PowerPoint format; save it as PPTX.",
    )
    file.seek(0)
    try:
        slides = pptx.Presentation(file).slides
        return [slide for slide in slides if slide.element.get("show") not in ("0", "false")]
    except (PythonPptxError, KeyError, ValueError, etree.XMLSyntaxError) as error:
        raise ParseFailed("unreadable", _UNREADABLE) from error


def _build_page_text(slide: Slide) -> str:
    _simplify_slide(slide.element)
    return "\n".join(line for shape in slide.shapes for line in _iterate_lines(slide, shape))


def _simplify_slide(slide: etree._Element) -> None:
    """Replace alternatives in a slide with their first choice; insert equations as text runs.

    The library reads only text runs. PowerPoint writes a shape with an equation as two
    alternatives; the second is a picture.
    """
    for alternatives in list(slide.iter(_COMPATIBILITY + "AlternateContent")):
        choice = alternatives.find(_COMPATIBILITY + "Choice")
        for child in [] if choice is None else list(choice):
            alternatives.addprevious(child)
        alternatives.getparent().remove(alternatives)
    for equation in list(slide.iter(EQUATION)):
        paragraph = next(equation.iterancestors(_DRAWING + "p"), None)
        if paragraph is not None:
            block = next(
                item
                for item in (equation, *equation.iterancestors())
                if item.getparent() is paragraph
            )
            run = etree.SubElement(paragraph, _DRAWING + "r")
            etree.SubElement(run, _DRAWING + "t").text = format_equation(equation)
            block.addprevious(run)


def _iterate_lines(slide: Slide, shape: BaseShape) -> Iterator[str]:
    if _is_hidden(shape):
        return
    if isinstance(shape, GroupShape):
        for inner_shape in shape.shapes:
            yield from _iterate_lines(slide, inner_shape)
    elif isinstance(shape, GraphicFrame) and shape.has_table:
        for row in shape.element.iter(_DRAWING + "tr"):
            cells = (cell.find(_DRAWING + "txBody") for cell in row.iterchildren(_DRAWING + "tc"))
            texts = (" ".join(_iterate_paragraphs(cell, ())) for cell in cells)
            yield "\t".join(" ".join(text.split()) for text in texts)
    elif isinstance(shape, Shape):  # only these shapes have text
        body = shape.element.find(_PRESENTATION + "txBody")
        yield from _iterate_paragraphs(body, find_inherited_styles(slide, shape))


def _is_hidden(shape: BaseShape) -> bool:
    properties = next(shape.element.iter(_PRESENTATION + "cNvPr"), None)
    return properties is not None and properties.get("hidden") in ("1", "true")


def _iterate_paragraphs(
    body: etree._Element | None, inherited_styles: Sequence[etree._Element]
) -> Iterator[str]:
    """Yield the paragraphs with text, each with its number."""
    if body is None:
        return
    numbers = number_paragraphs(body, inherited_styles)
    for number, paragraph in zip(numbers, body.iterchildren(_DRAWING + "p"), strict=True):
        if paragraph.text.strip():
            yield number + paragraph.text.replace("\v", "\n").rstrip()
