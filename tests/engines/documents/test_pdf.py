"""PDF: text layer, displayed boxes, and damaged files."""

from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageDraw
from reportlab.pdfgen.canvas import Canvas

from app.engines.documents import Limits, Page, parse, parse_stream, render
from app.engines.documents.media import PDF
from tests.engines.documents import samples
from tests.engines.documents.parsing import get_failure, parse_data, render_image


def failure(folder: Path, data: bytes, **limits: int) -> str:
    return get_failure(parse_data, folder, data, PDF, **limits).code


def ink_outside(path: Path, page: Page) -> tuple[int, int]:
    """Return the number of dark pixels in the page image, and how many are outside all boxes."""
    width = round(page.width * 3)
    picture = render_image(path, PDF, page.number, width_px=width).convert("L")
    assert picture.width == width
    assert picture.height == pytest.approx(page.height * 3, abs=1)
    dark = picture.point(lambda value: 255 if value < 128 else 0)
    boxes = Image.new("L", picture.size, 255)
    pen = ImageDraw.Draw(boxes)
    for word in page.words:
        x0, y0, x1, y1 = word.box
        area = (x0 * picture.width, y0 * picture.height, x1 * picture.width, y1 * picture.height)
        pen.rectangle(area, fill=0)
    return dark.histogram()[255], ImageChops.darker(dark, boxes).histogram()[255]


def test_text_words_and_offsets(tmp_path: Path) -> None:
    document = parse_data(tmp_path, samples.pdf([samples.LINES, ["Second page"]]), PDF)
    assert document.text == "\n".join(samples.LINES) + "\fSecond page"
    assert document.language == "en"
    assert [(page.start, page.end) for page in document.pages] == [(0, 67), (68, 79)]
    for page in document.pages:
        assert document.text[page.start : page.end] == page.text
        assert (page.width, page.height, page.rotation) == (420, 595, 0)
        assert page.has_text_layer
        assert [word.text for word in page.words] == page.text.split()
        for word in page.words:
            assert document.text[word.start : word.end] == word.text


@pytest.mark.parametrize("crop", [None, (40, 50, 400, 580)])
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_boxes_match_the_page_as_displayed(
    tmp_path: Path, rotation: int, crop: tuple[float, float, float, float] | None
) -> None:
    path = samples.stored(tmp_path, samples.pdf(rotation=rotation, crop=crop))
    (page,) = parse(path, PDF).pages
    upright = (360, 530) if crop else (420, 595)
    assert (page.width, page.height) == (upright if rotation % 180 == 0 else upright[::-1])
    assert page.rotation == rotation
    dark, outside = ink_outside(path, page)
    assert dark > 1000
    assert outside == 0
    area = sum((w.box[2] - w.box[0]) * (w.box[3] - w.box[1]) for w in page.words)
    assert 0.005 < area < 0.2


def test_rotated_text_is_inside_its_boxes(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.saveState()
        canvas.translate(300, 100)
        canvas.rotate(90)
        canvas.drawString(0, 0, "Sideways text")
        canvas.restoreState()

    path = samples.stored(tmp_path, samples.pdf(draw=draw))
    (page,) = parse(path, PDF).pages
    assert page.text.endswith("Sideways text")
    dark, outside = ink_outside(path, page)
    assert dark > 1000
    assert outside == 0


def test_a_word_broken_by_a_hyphen_keeps_its_line_end(tmp_path: Path) -> None:
    document = parse_data(tmp_path, samples.pdf([["A hyphen-", "ated word"]]), PDF)
    assert document.text == "A hyphen-\nated word"
    assert [word.text for word in document.pages[0].words] == ["A", "hyphen-", "ated", "word"]


def test_the_values_of_a_form_are_text_and_are_drawn(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.acroForm.textfield(name="f", x=60, y=200, width=200, height=24, value="Filled 42")

    path = samples.stored(tmp_path, samples.pdf([()], draw=draw))
    (page,) = parse(path, PDF).pages
    assert [word.text for word in page.words] == ["Filled", "42"]
    x0, y0, x1, y1 = page.words[0].box
    picture = render_image(path, PDF, 1, width_px=1260).convert("L")
    across, down = picture.size
    inside = picture.crop((int(x0 * across), int(y0 * down), int(x1 * across), int(y1 * down)))
    assert inside.getextrema()[0] < 100


def test_a_scan_has_pages_but_no_words(tmp_path: Path) -> None:
    document = parse_data(tmp_path, samples.scanned_pdf(2), PDF)
    assert document.text == "\f"
    assert document.language is None
    assert [(page.start, page.end, page.has_text_layer) for page in document.pages] == [
        (0, 0, False),
        (1, 1, False),
    ]
    assert [page.words for page in document.pages] == [[], []]


def test_pages_are_passed_one_by_one(tmp_path: Path) -> None:
    path = samples.stored(tmp_path, samples.pdf([[f"Page {number}"] for number in range(300)]))
    pages: list[Page] = []
    summary = parse_stream(path, PDF, Limits(), pages.append)
    assert summary.page_count == len(pages) == 300
    assert summary.text == "\f".join(f"Page {number}" for number in range(300))
    assert pages[-1].words[1].text == summary.text[pages[-1].words[1].start :] == "299"


def test_password(tmp_path: Path) -> None:
    path = samples.stored(tmp_path, samples.pdf(password="secret"))
    assert get_failure(parse, path, PDF).code == "password_protected"
    assert get_failure(render, path, PDF, 1, width_px=300).code == "password_protected"


@pytest.mark.parametrize(
    "data",
    [
        samples.pdf()[:600],
        b"%PDF-1.7\n",
        b"%PDF-1.7\n" + bytes(5000),
        samples.image("PNG"),
        b"just words",
    ],
    ids=["truncated", "header", "zeros", "mislabeled image", "mislabeled text"],
)
def test_damaged_or_mislabeled(tmp_path: Path, data: bytes) -> None:
    assert failure(tmp_path, data) == "unreadable"


def test_nothing_in_it(tmp_path: Path) -> None:
    assert failure(tmp_path, b"") == "empty_document"
    assert failure(tmp_path, samples.empty_pages_pdf(0)) in ("empty_document", "unreadable")


def test_ten_thousand_pages(tmp_path: Path) -> None:
    data = samples.empty_pages_pdf(10_000)
    assert failure(tmp_path, data) == "too_many_pages"
    assert len(parse_data(tmp_path, data, PDF, max_pages=10_000).pages) == 10_000


def test_too_much_text(tmp_path: Path) -> None:
    data = samples.pdf([["many words here"]] * 5)
    assert failure(tmp_path, data, max_text_chars=10) == "too_large_unpacked"
    assert failure(tmp_path, data, max_text_chars=40) == "too_large_unpacked"
    assert failure(tmp_path, data, max_words_per_page=2) == "too_large_unpacked"


def test_a_page_of_absurd_size_has_valid_boxes(tmp_path: Path) -> None:
    document = parse_data(tmp_path, samples.pdf(size=(14_400, 3)), PDF)
    for word in document.pages[0].words:
        assert all(0 <= side <= 1 for side in word.box)
