"""Page images of all document types."""

from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageDraw

from app.engines.documents import (
    ImageFormat,
    Limits,
    PageNotFound,
    UnsupportedMediaType,
    parse,
    render,
    render_text,
)
from app.engines.documents.media import DOCX, PDF
from app.engines.documents.readers.pages import ImageSize
from tests.engines.documents import samples
from tests.engines.documents.parsing import get_failure, render_image

# ruff: noqa: RUF001 - letters of many scripts are the point
TEXT = (
    "Invoice 17\nGröße: 5 €\tĄčęį @WMQ|_jgy\nСчёт Ωμέγα\nשלום עולם\nمرحبا\n中文 한국어 ไทย हिन्दी\n"
    + "x" * 90
)


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
def test_formats_and_width(tmp_path: Path, kind: ImageFormat) -> None:
    path = samples.stored(tmp_path, samples.pdf())
    picture = render_image(path, PDF, 1, width_px=777, format=kind)
    assert picture.format == kind.upper()
    assert picture.size == (777, 1101)


def test_the_height_follows_from_the_width(tmp_path: Path) -> None:
    path = samples.stored(tmp_path, samples.pdf())
    assert render_image(path, PDF, 1, width_px=210).size == (210, 298)
    assert render_image(path, PDF, 1, width_px=840).size == (840, 1190)


def test_a_virtual_page_is_rendered_by_its_text(tmp_path: Path) -> None:
    path = samples.stored(tmp_path, f"{TEXT}\f\f{TEXT}".encode())
    for page in parse(path, "text/plain").pages:
        expected = render(path, "text/plain", page.number, width_px=300)
        assert render_text(page.text, width_px=300) == expected
    error = get_failure(render_text, "words", width_px=300, limits=Limits(max_pixels=1000))
    assert error.code == "too_many_pixels"


@pytest.mark.parametrize("width", [0, -1])
def test_senseless_sizes(tmp_path: Path, width: int) -> None:
    path = samples.stored(tmp_path, samples.pdf())
    with pytest.raises(ValueError, match="must be positive"):
        render(path, PDF, 1, width_px=width)


@pytest.mark.parametrize("scale", [1e9, 1e300, float("nan")])
def test_scales_that_are_too_large(scale: float) -> None:
    error = get_failure(ImageSize(None, scale).compute_size_px, 595.0, 842.0, Limits())
    assert error.code == "too_many_pixels"


@pytest.mark.parametrize(
    ("media_type", "data"),
    [
        (PDF, samples.pdf()),
        ("text/plain", b"words"),
        ("image/png", samples.image("PNG")),
        ("image/tiff", samples.image("TIFF")),
    ],
)
def test_missing_pages(tmp_path: Path, media_type: str, data: bytes) -> None:
    path = samples.stored(tmp_path, data)
    for number in (0, -1, 2, 10**12):
        with pytest.raises(PageNotFound) as caught:
            render(path, media_type, number, width_px=100)
        assert (caught.value.number, caught.value.page_count) == (number, 1)


@pytest.mark.parametrize(
    ("media_type", "data"),
    [(PDF, samples.pdf()), ("text/plain", b"words"), ("image/png", samples.image("PNG"))],
)
def test_more_pixels_than_allowed(tmp_path: Path, media_type: str, data: bytes) -> None:
    path = samples.stored(tmp_path, data)
    error = get_failure(render, path, media_type, 1, width_px=1_000_000)
    assert error.code == "too_many_pixels"


def test_an_image_bomb_is_refused_by_its_header(tmp_path: Path) -> None:
    path = samples.stored(tmp_path, samples.png_claiming(50_000, 50_000))
    limits = Limits(memory_bytes=256 << 20)
    error = get_failure(render, path, "image/png", 1, width_px=100, limits=limits)
    assert error.code == "too_many_pixels"


def test_virtual_pages_have_their_ink_inside_the_boxes(tmp_path: Path) -> None:
    path = samples.stored(tmp_path, TEXT.encode())
    (page,) = parse(path, "text/plain").pages
    for width in (595, 1000, 1333):
        picture = render_image(path, "text/plain", 1, width_px=width).convert("L")
        assert picture.size == (width, -(-842 * width // 595))
        dark = picture.point(lambda value: 255 if value < 128 else 0)
        boxes = Image.new("L", picture.size, 255)
        pen = ImageDraw.Draw(boxes)
        for word in page.words:
            x0, y0, x1, y1 = word.box
            area = [round(s * d) for s, d in zip((x0, y0, x1, y1), picture.size * 2, strict=True)]
            assert dark.crop(area).getextrema() == (0, 255), word
            pen.rectangle((area[0] - 1, area[1] - 1, area[2] + 1, area[3] + 1), fill=0)
        assert ImageChops.darker(dark, boxes).histogram()[255] == 0


def test_a_later_page_of_a_long_text(tmp_path: Path) -> None:
    path = samples.stored(tmp_path, ("\n" * 58 + "here").encode())
    for number, darkest in ((1, 255), (2, 0)):
        picture = render_image(path, "text/plain", number, width_px=1190).convert("L")
        assert picture.getextrema() == (darkest, 255)


def test_every_flowing_type_can_be_rendered(tmp_path: Path) -> None:
    word = samples.word(lambda document: document.add_paragraph("Hello"))
    documents = {DOCX: word, "text/html": b"<p>Hello", "message/rfc822": bytes(samples.mail())}
    for media_type, data in documents.items():
        picture = render_image(samples.stored(tmp_path, data), media_type, 1, width_px=300)
        assert picture.convert("L").getextrema()[0] < 128


@pytest.mark.parametrize("kind", ["JPEG", "TIFF", "PNG"])
def test_turned_images_are_drawn_upright(tmp_path: Path, kind: str) -> None:
    picture = Image.new("RGB", (200, 100), "white")
    picture.paste("black", (0, 0, 40, 40))  # top left as stored; top right once turned
    exif = Image.Exif()
    exif[0x0112] = 6
    path = samples.stored(tmp_path, samples.image(kind, picture, exif=exif))
    drawn = render_image(path, f"image/{kind.lower()}", 1, width_px=100).convert("L")
    assert drawn.size == (100, 200)
    assert (drawn.getpixel((90, 10)), drawn.getpixel((10, 10))) == (0, 255)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16", "I", "F", "CMYK"])
def test_modes(tmp_path: Path, mode: str) -> None:
    name = "PNG" if mode in ("LA", "P", "RGBA") else "TIFF"
    path = samples.stored(tmp_path, samples.image(name, Image.new(mode, (50, 50))))
    media_type = f"image/{name.lower()}"
    assert render_image(path, media_type, 1, width_px=100).size == (100, 100)


def test_transparent_pixels_become_white(tmp_path: Path) -> None:
    path = samples.stored(tmp_path, samples.image("PNG", Image.new("RGBA", (9, 9), (0, 0, 0, 0))))
    picture = render_image(path, "image/png", 1, width_px=18, format="jpeg")
    assert picture.convert("L").getextrema()[0] > 250


def test_sixteen_bits_become_eight(tmp_path: Path) -> None:
    picture = Image.new("I;16", (9, 9), 0x8000)
    path = samples.stored(tmp_path, samples.image("PNG", picture))
    drawn = render_image(path, "image/png", 1, width_px=18).convert("L")
    assert drawn.getextrema() == (128, 128)


def test_unknown_media_types_start_no_child(tmp_path: Path) -> None:
    path = samples.stored(tmp_path, b"x")
    with pytest.raises(UnsupportedMediaType):
        render(path, "image/avif", 1, width_px=9)
    with pytest.raises(UnsupportedMediaType):
        parse(path, "image/avif")
