"""Presentations and text documents with only pictures: each picture is a page."""

import io
from pathlib import Path
from typing import Any

import pptx
import pytest
from docx.document import Document
from PIL import Image

from app.engines.documents import PageNotFound, parse, render
from app.engines.documents.media import DOCX, ODT, PPTX
from tests.engines.documents import samples
from tests.engines.documents.parsing import get_parse_failure, parse_data, render_image

RED, BLUE = (255, 0, 0), (0, 0, 255)
NAMESPACES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in (("office", "office"), ("text", "text"), ("draw", "drawing"))
)


def square(color: tuple[int, int, int]) -> bytes:
    return samples.image("PNG", Image.new("RGB", (60, 30), color))


def presentation(*pictures: bytes, hidden: bytes | None = None) -> bytes:
    deck: Any = pptx.Presentation()
    for picture in (*pictures, *([hidden] if hidden else [])):
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        group = slide.shapes.add_group_shape()
        group.shapes.add_picture(io.BytesIO(picture), 0, 0)
        if picture == hidden:
            slide.element.set("show", "0")
    return samples.save_to_bytes(deck)


def word_document(*pictures: bytes, text: str = "") -> bytes:
    def fill(document: Document) -> None:
        if text:
            document.add_paragraph(text)
        for picture in pictures:
            document.add_picture(io.BytesIO(picture))

    return samples.word(fill)


def open_document(*pictures: bytes, text: str = "") -> bytes:
    """Return an ODT whose first picture is missing, and which refers to a picture on a host."""
    paths = ["Pictures/missing.png", "http://192.0.2.1/a.png"]
    paths += [f"Pictures/{number}.png" for number in range(len(pictures))]
    images = "".join(
        f'<draw:frame><draw:image xlink:href="{path}"/></draw:frame>' for path in paths
    )
    content = (
        f'<office:document-content {NAMESPACES} xmlns:xlink="http://www.w3.org/1999/xlink">'
        f"<office:body><office:text><text:p>{text}{images}</text:p></office:text></office:body>"
        "</office:document-content>"
    )
    entries = {f"Pictures/{number}.png": picture for number, picture in enumerate(pictures)}
    return samples.build_zip({"mimetype": ODT, "content.xml": content, **entries})


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (presentation(square(RED), square(BLUE), hidden=square((0, 255, 0))), PPTX),
        (open_document(square(RED), square(BLUE)), ODT),
        (word_document(square(RED), square(BLUE)), DOCX),
    ],
    ids=["pptx", "odt", "docx"],
)
def test_each_picture_is_a_page(tmp_path: Path, data: bytes, media_type: str) -> None:
    path = samples.stored(tmp_path, data)
    document = parse(path, media_type)
    assert document.text == "\f"
    assert [(page.has_text_layer, page.words) for page in document.pages] == [(False, [])] * 2
    for number, color in ((1, RED), (2, BLUE)):
        drawn = render_image(path, media_type, number, width_px=300).convert("RGB")
        assert drawn.size == (300, 425)
        assert drawn.getpixel((100, 50)) == color
        assert drawn.getpixel((100, 400)) == (255, 255, 255)
    with pytest.raises(PageNotFound):
        render(path, media_type, 3, width_px=300)


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (open_document(square(RED), text="Lease"), ODT),
        (word_document(square(RED), text="Lease"), DOCX),
    ],
    ids=["odt", "docx"],
)
def test_pictures_beside_text_are_no_pages(tmp_path: Path, data: bytes, media_type: str) -> None:
    document = parse_data(tmp_path, data, media_type)
    assert document.text.strip() == "Lease"
    assert [page.has_text_layer for page in document.pages] == [True]


@pytest.mark.parametrize("media_type", [PPTX, ODT])
def test_neither_text_nor_pictures(tmp_path: Path, media_type: str) -> None:
    data = presentation() if media_type == PPTX else open_document()
    assert get_parse_failure(tmp_path, data, media_type).code == "empty_document"


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (open_document(samples.png_claiming(60_000, 60_000)), ODT),
        (word_document(samples.png_claiming(60_000, 60_000)), DOCX),
    ],
    ids=["odt", "docx"],
)
def test_a_picture_of_too_many_pixels(tmp_path: Path, data: bytes, media_type: str) -> None:
    assert get_parse_failure(tmp_path, data, media_type).code == "too_many_pixels"
