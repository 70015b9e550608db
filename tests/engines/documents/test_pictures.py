"""Presentations and OpenDocument text files with only pictures: each picture is a page."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pptx
import pytest
from PIL import Image

from app.engines.documents import PageNotFound, ParseFailed, parse, render
from app.engines.documents.media import ODT, PPTX
from tests.engines.documents import samples

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
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


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
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", ODT)
        archive.writestr("content.xml", content)
        for number, picture in enumerate(pictures):
            archive.writestr(f"Pictures/{number}.png", picture)
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (presentation(square(RED), square(BLUE), hidden=square((0, 255, 0))), PPTX),
        (open_document(square(RED), square(BLUE)), ODT),
    ],
    ids=["pptx", "odt"],
)
def test_each_picture_is_a_page(tmp_path: Path, data: bytes, media_type: str) -> None:
    path = samples.stored(tmp_path, data)
    pages = parse(path, media_type).pages
    assert [(page.has_text_layer, page.words) for page in pages] == [(False, [])] * 2
    for number, color in ((1, RED), (2, BLUE)):
        drawn = Image.open(io.BytesIO(render(path, media_type, number, width_px=300)))
        assert drawn.convert("RGB").getpixel((100, 50)) == color
    with pytest.raises(PageNotFound):
        render(path, media_type, 3, width_px=300)


def test_pictures_beside_text_are_no_pages(tmp_path: Path) -> None:
    path = samples.stored(tmp_path, open_document(square(RED), text="Lease"))
    document = parse(path, ODT)
    assert document.text.strip() == "Lease"
    assert [page.has_text_layer for page in document.pages] == [True]


@pytest.mark.parametrize("media_type", [PPTX, ODT])
def test_neither_text_nor_pictures(tmp_path: Path, media_type: str) -> None:
    data = presentation() if media_type == PPTX else open_document()
    with pytest.raises(ParseFailed) as failed:
        parse(samples.stored(tmp_path, data), media_type)
    assert failed.value.code == "empty_document"


def test_a_picture_of_too_many_pixels(tmp_path: Path) -> None:
    data = open_document(samples.png_claiming(60_000, 60_000))
    with pytest.raises(ParseFailed) as failed:
        parse(samples.stored(tmp_path, data), ODT)
    assert failed.value.code == "too_many_pixels"
