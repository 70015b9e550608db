"""Images: pages without words, upright, and never more pixels than allowed."""

import io
from pathlib import Path

import pytest
from PIL import Image, TiffImagePlugin

from tests.engines.documents import samples
from tests.engines.documents.parsing import get_parse_failure, parse_data

TURNABLE = {"PNG": "image/png", "JPEG": "image/jpeg", "TIFF": "image/tiff", "WEBP": "image/webp"}
KINDS = {**TURNABLE, "GIF": "image/gif", "BMP": "image/bmp"}
SIDEWAYS = {1: (300, 150, 0), 3: (300, 150, 180), 6: (150, 300, 90), 8: (150, 300, 270)}


@pytest.mark.parametrize("kind", list(KINDS))
def test_one_page_without_words(tmp_path: Path, kind: str) -> None:
    # Pillow writes 96 dots per inch into a BMP unless told otherwise; 0 means unknown.
    options: dict[str, object] = {"dpi": (0, 0)} if kind == "BMP" else {}
    document = parse_data(tmp_path, samples.image(kind, **options), KINDS[kind])
    (page,) = document.pages
    assert (page.width, page.height, page.rotation) == (300, 150, 0)
    assert (document.text, document.language) == ("", None)
    assert (page.words, page.has_text_layer) == ([], False)


def test_points_follow_the_resolution(tmp_path: Path) -> None:
    (page,) = parse_data(tmp_path, samples.image("PNG", dpi=(300, 300)), "image/png").pages
    assert (page.width, page.height) == pytest.approx((72, 36), abs=0.01)
    (page,) = parse_data(tmp_path, samples.image("PNG", dpi=(1, 1)), "image/png").pages
    assert (page.width, page.height) == (300, 150)


@pytest.mark.parametrize("orientation", list(SIDEWAYS))
@pytest.mark.parametrize("kind", list(TURNABLE))
def test_turned_images_are_measured_upright(tmp_path: Path, kind: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    (page,) = parse_data(tmp_path, samples.image(kind, exif=exif), TURNABLE[kind]).pages
    assert (page.width, page.height, page.rotation) == SIDEWAYS[orientation]


def test_frames_of_a_tiff_are_pages(tmp_path: Path) -> None:
    more = [samples.picture_of("two", (100, 50)), samples.picture_of("three", (50, 100))]
    data = samples.image("TIFF", save_all=True, append_images=more)
    document = parse_data(tmp_path, data, "image/tiff")
    sizes = [(page.width, page.height) for page in document.pages]
    assert sizes == [(300, 150), (100, 50), (50, 100)]
    assert document.text == "\f\f"
    assert get_parse_failure(tmp_path, data, "image/tiff", max_pages=2).code == "too_many_pages"


def test_frames_of_a_tiff_turn_each_by_itself(tmp_path: Path) -> None:
    first, second = samples.picture_of("one"), samples.picture_of("two", (100, 50))
    out = io.BytesIO()
    with TiffImagePlugin.AppendingTiffWriter(out) as writer:
        for picture, orientation in ((first, 1), (second, 6)):
            picture.save(writer, "TIFF", tiffinfo={0x0112: orientation})
            writer.newFrame()
    document = parse_data(tmp_path, out.getvalue(), "image/tiff")
    sizes = [(page.width, page.height, page.rotation) for page in document.pages]
    assert sizes == [(300, 150, 0), (50, 100, 90)]


@pytest.mark.parametrize("kind", ["WEBP", "GIF"])
def test_an_animation_is_one_page(tmp_path: Path, kind: str) -> None:
    more = [samples.picture_of("two")]
    data = samples.image(kind, save_all=True, append_images=more)
    assert len(parse_data(tmp_path, data, KINDS[kind]).pages) == 1


@pytest.mark.parametrize(("width", "height"), [(50_000, 50_000), (10_001, 10_000), (2**31 - 1, 1)])
def test_a_header_that_promises_too_many_pixels(tmp_path: Path, width: int, height: int) -> None:
    data = samples.png_claiming(width, height)
    error = get_parse_failure(tmp_path, data, "image/png", memory_bytes=256 << 20)
    assert error.code == "too_many_pixels"


def test_a_later_frame_with_too_many_pixels(tmp_path: Path) -> None:
    more = [Image.new("1", (5000, 5000))]
    data = samples.image("TIFF", save_all=True, append_images=more)
    error = get_parse_failure(tmp_path, data, "image/tiff", max_pixels=1_000_000)
    assert error.code == "too_many_pixels"


@pytest.mark.parametrize("kind", list(KINDS))
def test_truncated(tmp_path: Path, kind: str) -> None:
    noise = Image.effect_noise((300, 300), 80).convert("RGB")
    data = samples.image(kind, noise)
    assert get_parse_failure(tmp_path, data[: len(data) // 2], KINDS[kind]).code == "unreadable"


@pytest.mark.parametrize("data", [samples.pdf(), b"words", samples.image("ICO")])
@pytest.mark.parametrize("kind", list(KINDS))
def test_mislabeled(tmp_path: Path, kind: str, data: bytes) -> None:
    assert get_parse_failure(tmp_path, data, KINDS[kind]).code == "unreadable"


def test_nothing_in_it(tmp_path: Path) -> None:
    assert get_parse_failure(tmp_path, b"", "image/png").code == "empty_document"
