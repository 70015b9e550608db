"""The text of pictures is found, whichever way up they are."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from PIL import Image

from app.engines import documents, ocr
from app.engines.ocr import RecognizedPage
from tests.engines.documents import samples
from tests.engines.ocr.scans import (
    LINES,
    draw_page_at,
    draw_scan,
    encode_photograph,
    encode_png,
    make_mixed_pdf,
    measure_word,
)

PHOTOGRAPHS = Path(__file__).parents[3] / ".venv" / "sample-documents" / "pi_heif"
TEXT = "\n".join(LINES)
Turn = Callable[[Image.Image], Image.Image]


@pytest.fixture(scope="module", autouse=True)
def _server() -> Iterator[None]:
    yield
    ocr.stop_server()


def _recognize(folder: Path, data: bytes, media_type: str, number: int = 1) -> RecognizedPage:
    path = samples.stored(folder, data)
    page = documents.parse(path, media_type).pages[number - 1]
    return ocr.recognize_page(path, media_type, number, width=page.width, height=page.height)


def _encode_scan(picture: Image.Image) -> bytes:
    """Return a PNG of 200 dpi: without a resolution it would be enlarged to 2,000 pixels."""
    return encode_png(picture, dpi=(200, 200))


def _check_words(page: RecognizedPage) -> None:
    assert [page.text[word.start : word.end] for word in page.words] == TEXT.split()
    assert [word.text for word in page.words] == TEXT.split()
    assert all(0.5 < word.confidence <= 1 for word in page.words)


def test_words_have_their_places(tmp_path: Path) -> None:
    picture = draw_scan()
    page = _recognize(tmp_path, _encode_scan(picture), "image/png")
    assert page.text == TEXT
    _check_words(page)
    words = iter(page.words)
    for line, text in enumerate(LINES):
        for number, _ in enumerate(text.split()):
            box = next(words).box
            x0, y0, x1, y1 = measure_word(line, number)
            shown = (box[0] * picture.width, box[1] * picture.height,
                     box[2] * picture.width, box[3] * picture.height)  # fmt: skip
            assert abs(shown[0] - x0) < 20, (text, shown)
            assert abs(shown[2] - x1) < 20, (text, shown)
            assert shown[1] < (y0 + y1) / 2 < shown[3]


@pytest.mark.parametrize(
    ("turn", "is_first_at_right", "is_first_below"),
    [
        (lambda picture: picture.transpose(Image.Transpose.ROTATE_90), False, True),
        (lambda picture: picture.transpose(Image.Transpose.ROTATE_180), True, True),
        (lambda picture: picture.transpose(Image.Transpose.ROTATE_270), True, False),
        (lambda picture: picture.rotate(3, fillcolor="white", expand=True), False, False),
    ],
    ids=["left", "upside_down", "right", "askew"],
)
def test_a_rotated_page_is_read_in_order_with_the_boxes_of_the_page_as_displayed(
    tmp_path: Path, turn: Turn, is_first_at_right: bool, is_first_below: bool
) -> None:
    page = _recognize(tmp_path, _encode_scan(turn(draw_scan())), "image/png")
    assert page.text == TEXT
    _check_words(page)
    assert (page.words[0].box[0] > 0.5) == is_first_at_right
    assert (page.words[0].box[1] > 0.5) == is_first_below


@pytest.mark.parametrize("dpi", [150, 300])
def test_a_scan_of_usual_resolution(tmp_path: Path, dpi: int) -> None:
    data = encode_png(draw_page_at(dpi), dpi=(dpi, dpi))
    page = _recognize(tmp_path, data, "image/png")
    assert page.text == TEXT
    _check_words(page)


def test_a_photograph(tmp_path: Path) -> None:
    lines = LINES * 5
    photograph = encode_photograph(draw_page_at(200, lines))
    found = _recognize(tmp_path, photograph, "image/jpeg").text.split()
    shown = " ".join(lines).split()
    assert SequenceMatcher(None, shown, found, autojunk=False).ratio() > 0.9


def test_a_page_of_a_pdf(tmp_path: Path) -> None:
    data = make_mixed_pdf("A text layer", draw_scan())
    page = _recognize(tmp_path, data, "application/pdf", number=2)
    assert page.text == TEXT
    assert all(0.1 < word.box[1] < 0.9 for word in page.words)


def test_nothing_is_loaded_from_the_network(tmp_path: Path) -> None:
    # A namespace without any network; the models must come from the packages.
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-rn", "true"], check=False).returncode:
        pytest.skip("this machine does not permit namespaces")
    path = samples.stored(tmp_path, _encode_scan(draw_scan(LINES[:1], (560, 120))))
    code = (
        "import sys; from pathlib import Path; from app.engines import ocr\n"
        "page = ocr.recognize_page("
        "Path(sys.argv[1]), 'image/png', 1, width=202, height=43)\n"
        "print(page.text); ocr.stop_server()"
    )
    command = [unshare, "-rn", sys.executable, "-c", code, str(path)]
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    result = subprocess.run(command, capture_output=True, check=False, env=environment)
    assert result.returncode == 0, result.stderr.decode()
    assert result.stdout.decode().strip() == LINES[0]


def test_a_picture_without_text(tmp_path: Path) -> None:
    blank = Image.new("RGB", (300, 200), "gray")
    assert _recognize(tmp_path, encode_png(blank), "image/png") == RecognizedPage("", [])


def test_a_photograph_of_a_telephone_is_read_although_its_library_starts_threads() -> None:
    """libheif draws it in the confined process in which it is recognized."""
    assert PHOTOGRAPHS.is_dir(), "make .venv/sample-documents.stamp fetches the photographs"
    path = PHOTOGRAPHS / "RGB_8__128x128.heif"
    assert ocr.recognize_page(path, "image/heic", 1, width=128, height=128).words == []


def test_a_page_that_does_not_exist(tmp_path: Path) -> None:
    path = samples.stored(tmp_path, encode_png(draw_scan()))
    with pytest.raises(documents.ParseFailed) as raised:
        ocr.recognize_page(path, "image/png", 2, width=100, height=100)
    assert raised.value.code == "crashed"


def test_a_damaged_picture(tmp_path: Path) -> None:
    path = samples.stored(tmp_path, encode_png(draw_scan())[:600])
    with pytest.raises(documents.ParseFailed) as raised:
        ocr.recognize_page(path, "image/png", 1, width=100, height=100)
    assert raised.value.code == "unreadable"
