"""HEIC images of cameras and of the library's own tests: one page each, drawn upright."""

import io
from pathlib import Path

import pytest
from PIL import Image

from app.engines.documents import Limits, ParseFailed, detect_media_type, parse, render

FOLDER = Path(__file__).parents[3] / ".venv" / "sample-documents" / "pi_heif"
HEIC = "image/heic"
DAMAGED = {
    "corrupted.heic": "unreadable",
    "corrupted.hif": "unreadable",
    "empty.heic": "empty_document",
}
SEQUENCE = "bird_burst.heic"


@pytest.fixture(autouse=True)
def fetched() -> None:
    assert FOLDER.is_dir(), "make .venv/sample-documents.stamp fetches the images"


def test_nothing_fails_that_can_be_read() -> None:
    paths = sorted(FOLDER.iterdir())
    assert len(paths) == 38
    failures = {}
    for path in paths:
        try:
            (page,) = parse(path, HEIC).pages
        except ParseFailed as failure:
            failures[path.name] = failure.code
            continue
        assert page.words == []
        assert not page.has_text_layer
    assert failures == DAMAGED


def test_the_content_tells_the_type() -> None:
    for path in FOLDER.iterdir():
        if path.name in ("empty.heic", SEQUENCE):
            continue
        assert detect_media_type(path.read_bytes()[:4096], "photo", None) == HEIC, path.name


@pytest.mark.parametrize(
    ("name", "size"),
    [("pug.heic", (4032, 3024)), ("arrow.heic", (3024, 4032)), ("RGB_10__29x100.heif", (29, 100))],
)
def test_pages_are_drawn_as_they_are_measured(name: str, size: tuple[int, int]) -> None:
    (page,) = parse(FOLDER / name, HEIC).pages
    assert (page.width, page.height) == size
    drawn = Image.open(io.BytesIO(render(FOLDER / name, HEIC, 1, width_px=200)))
    assert drawn.size == (200, round(200 * size[1] / size[0]))
    low, high = drawn.convert("L").getextrema()
    assert high - low > 50


def test_too_many_pixels_are_refused_before_decoding() -> None:
    with pytest.raises(ParseFailed) as caught:
        parse(FOLDER / "pug.heic", HEIC, Limits(max_pixels=1_000_000))
    assert caught.value.code == "too_many_pixels"
