"""HEIC: photos from phones, and the test files of the HEIC library."""

from pathlib import Path

import pytest

from app.engines.documents import Limits, ParseFailed, UnsupportedMediaType, parse
from app.engines.documents.detection import detect_media_type
from app.engines.documents.media import HEIC
from tests.engines.documents.parsing import get_failure, get_parse_failure, render_image

FOLDER = Path(__file__).parents[3] / ".venv" / "sample-documents" / "pi_heif"
SMALL = "RGB_8__128x128.heif"
FAILURES = {
    "corrupted.heic": "unreadable",
    "corrupted.hif": "unreadable",
    "empty.heic": "empty_document",
    "truncated.heic": "unreadable",
}


@pytest.fixture(autouse=True)
def fetched() -> None:
    assert FOLDER.is_dir(), "make .venv/sample-documents.stamp fetches the documents"


def claim_size(width: int, height: int) -> bytes:
    """Return an image of 128 x 128 pixels that claims another size (ISO/IEC 23008-12, 6.5.3)."""
    data = (FOLDER / SMALL).read_bytes()
    start = b"ispe" + bytes(4)
    old = start + (128).to_bytes(4, "big") * 2
    assert old in data
    return data.replace(old, start + width.to_bytes(4, "big") + height.to_bytes(4, "big"))


def test_photographs_are_pages() -> None:
    paths = sorted(FOLDER.iterdir())
    assert len(paths) == 38
    sizes, failures = {}, {}
    for path in paths:
        assert detect_media_type(path.read_bytes()[:65536], path.name, None) == HEIC, path.name
        try:
            document = parse(path, HEIC)
        except ParseFailed as failure:
            failures[path.name] = failure.code
            continue
        (page,) = document.pages
        assert (document.text, page.has_text_layer) == ("", False)
        sizes[path.name] = (page.width, page.height, page.rotation)
    assert failures == FAILURES
    assert sizes[SMALL] == (128, 128, 0)
    assert sizes["pug.heic"] == (4032, 3024, 0)
    assert sizes["arrow.heic"] == (3024, 4032, 0), "it is turned upright"


def test_the_type_is_detected_by_the_content() -> None:
    for path in FOLDER.iterdir():
        if path.name != "empty.heic":
            assert detect_media_type(path.read_bytes()[:4096], "photo", None) == HEIC, path.name


@pytest.mark.parametrize(
    ("name", "size"),
    [("pug.heic", (4032, 3024)), ("arrow.heic", (3024, 4032)), ("RGB_10__29x100.heif", (29, 100))],
)
def test_rendered_pages_have_the_measured_proportions(name: str, size: tuple[int, int]) -> None:
    (page,) = parse(FOLDER / name, HEIC).pages
    assert (page.width, page.height) == size
    drawn = render_image(FOLDER / name, HEIC, 1, width_px=200)
    assert drawn.size == (200, round(200 * size[1] / size[0]))
    low, high = drawn.convert("L").getextrema()
    assert high - low > 50


def test_too_many_pixels_are_refused_before_decoding() -> None:
    error = get_failure(parse, FOLDER / "pug.heic", HEIC, Limits(max_pixels=1_000_000))
    assert error.code == "too_many_pixels"


@pytest.mark.parametrize(("width", "height"), [(60_000, 60_000), (2**31 - 1, 1), (2**32 - 1, 9)])
def test_a_header_that_promises_too_many_pixels(tmp_path: Path, width: int, height: int) -> None:
    error = get_parse_failure(tmp_path, claim_size(width, height), HEIC)
    assert error.code in ("too_many_pixels", "unreadable")
    if width == height:
        assert error.code == "too_many_pixels"


@pytest.mark.parametrize("name", ["pug.heic", "xiaomi.heic", SMALL])
@pytest.mark.parametrize("share", [0.3, 0.9, 0.99])
def test_truncated(tmp_path: Path, name: str, share: float) -> None:
    """libheif renders the remaining tiles of a truncated photo, but the photo is rejected."""
    data = (FOLDER / name).read_bytes()
    data = data[: int(share * len(data))]
    assert get_parse_failure(tmp_path, data, HEIC).code == "unreadable"


def test_other_brands_are_not_supported() -> None:
    head = b"\0\0\0\x1cftyp%s\0\0\0\0mif1%smiaf"
    for declared in (None, HEIC):
        with pytest.raises(UnsupportedMediaType):
            detect_media_type(head % (b"avif", b"avif"), "photo.avif", declared)
    for name in ("photo", "photo.png"):
        assert detect_media_type(head % (b"mif1", b"heic"), name, "image/heif") == HEIC
        with pytest.raises(UnsupportedMediaType):
            detect_media_type(head % (b"mif1", b"avif"), name, None)
