"""The text of a PDF contains what the page shows, in characters that people type."""

import io
import re
import unicodedata
from pathlib import Path

import pytest
from bidi import get_display
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfgen.canvas import Canvas

from tests.engines.documents.pages import (
    FACE,
    encoded_pdf,
    parse_pdf,
    placed_pdf,
    read_lines,
    register_face,
    shuffled,
)

HEBREW = (
    "חשבונית מס 1024",
    "לכבוד: חברת אבג בעמ",
    "תאריך 04.03.2024",
    "מספר הזמנה ABC 12 מיום שני",
    "סכום (כולל מעמ): 1,234.56",
    "תודה על הקנייה",
)
ARABIC = ("فاتورة رقم 1024", "المبلغ الإجمالي: 1,234.56", "شكرا لكم")


def test_lines_drawn_at_once_read_like_lines_drawn_word_by_word(tmp_path: Path) -> None:
    lines = [
        "Two  spaces, then wide",
        "Total due: 1,234.56 EUR (VAT 20%)",
        " x ",
        "a-b c_d e@f.org",
    ]
    whole, apart = io.BytesIO(), io.BytesIO()
    for out, splits in ((whole, False), (apart, True)):
        canvas = Canvas(out, (420, 595))
        canvas.setFont("Helvetica", 12)
        for index, line in enumerate(lines):
            x, y = 50.0, 500.0 - 14 * index
            for part in re.split("( )", line) if splits else [line]:
                if not splits or part.strip():
                    canvas.drawString(x, y, part)
                x += canvas.stringWidth(part, "Helvetica", 12)
        canvas.save()
    (page,), (expected,) = (parse_pdf(tmp_path, out.getvalue()).pages for out in (whole, apart))
    assert page.text == "\n".join(" ".join(line.split()) for line in lines) == expected.text
    for word, expected_word in zip(page.words, expected.words, strict=True):
        assert (word.text, word.start) == (expected_word.text, expected_word.start)
        assert word.box == pytest.approx(expected_word.box, abs=2e-5)


@pytest.mark.parametrize("rotation", [0, 90])
def test_text_outside_the_crop_box_is_left_out(tmp_path: Path, rotation: int) -> None:
    texts = [(60, 100, "cut off above"), (60, 300, "shown"), (60, 700, "cut off below")]
    texts += [(-50, 320, "left"), (500, 320, "right of it"), (900, 320, "beyond the paper")]
    document = parse_pdf(tmp_path, placed_pdf(texts, crop=(50, 400, 450, 600), rotation=rotation))
    assert document.text == "shown"
    (word,) = document.pages[0].words
    assert (word.box[2] - word.box[0]) * (word.box[3] - word.box[1]) > 0


def test_a_page_with_all_its_text_cut_off_has_no_text_layer(tmp_path: Path) -> None:
    document = parse_pdf(tmp_path, placed_pdf([(60, 700, "below")], crop=(50, 400, 450, 600)))
    assert document.text == ""
    assert not document.pages[0].has_text_layer


def test_control_characters_are_left_out(tmp_path: Path) -> None:
    meanings = {0x41: "A\x01b", 0x42: "\x07", 0x43: "C\x85\x9fd", 0x44: "\ufffe", 0x45: "é"}
    document = parse_pdf(tmp_path, encoded_pdf(b"(A B C DE) Tj", meanings))
    assert not [char for char in document.text if unicodedata.category(char) == "Cc"]
    assert "é" in document.text
    assert "\ufffe" not in document.text


def test_accents_are_composed(tmp_path: Path) -> None:
    text = "cafe\u0301 Zu\u0308rich A\u030angstro\u0308m"
    document = parse_pdf(tmp_path, placed_pdf([(60, 100, text)], face=FACE))
    assert document.text == "café Zürich Ångström"
    assert [word.text for word in document.pages[0].words] == ["café", "Zürich", "Ångström"]


def test_ligatures_are_letters(tmp_path: Path) -> None:
    meanings = {0x41: "\ufb01", 0x42: "\ufb04", 0x6E: "n"}
    assert parse_pdf(tmp_path, encoded_pdf(b"(AnB) Tj", meanings)).text == "finffl"


@pytest.mark.parametrize("lines", [HEBREW, ARABIC], ids=["Hebrew", "Arabic"])
@pytest.mark.parametrize("drawn", ["lines", "words", "from the right"])
def test_right_to_left_text_is_in_the_order_of_reading(
    tmp_path: Path, lines: tuple[str, ...], drawn: str
) -> None:
    """PDF producers draw lines as displayed, word by word, or letter by letter from the right."""
    places = []
    for row, line in enumerate(lines):
        shown = get_display(line, base_dir="R")
        right, y = 500.0, 100.0 + 20 * row
        if drawn == "lines":
            places.append((right - _width(shown), y, shown))
            continue
        left = right - _width(shown)
        for part in shown.split(" ") if drawn == "words" else shown:
            if part.strip():
                places.append((left, y, part))
            left += _width(part + " " if drawn == "words" else part)
    if drawn == "from the right":
        places.sort(key=lambda place: (place[1], -place[0]))
    elif drawn == "words":
        places = shuffled(places)
    assert read_lines(tmp_path, places, face=FACE) == list(lines)


def test_a_right_to_left_name_in_a_left_to_right_line(tmp_path: Path) -> None:
    line = "Invoice for שלום עולם 12 כהן and others"
    places = [(60, 100, get_display(line, base_dir="L"))]
    assert read_lines(tmp_path, places, face=FACE) == [line]


def test_right_to_left_columns_and_rows(tmp_path: Path) -> None:
    labels = ("מספר", "תאריך", "סכום לתשלום")
    values = ("1024", "04.03.2024", "1,234.56")
    places = [(480 - _width(text), 100 + 20 * row, text[::-1]) for row, text in enumerate(labels)]
    places += [(200, 100 + 20 * row, text) for row, text in enumerate(values)]
    document = parse_pdf(tmp_path, placed_pdf(places, face=FACE))
    rows = [f"{label} {value}" for label, value in zip(labels, values, strict=True)]
    assert document.text.split("\n") == rows
    first = document.pages[0].words[0]
    assert first.text == "מספר"
    assert first.box[0] > document.pages[0].words[1].box[2]


def _width(text: str) -> float:
    register_face()
    return float(pdfmetrics.stringWidth(text, FACE, 10))
