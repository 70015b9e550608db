"""PDF text in reading order, regardless of the order in the file."""

import io
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from reportlab.lib.enums import TA_JUSTIFY, TA_LEFT
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph

from tests.engines.documents.pages import PlacedText, parse_pdf, read_lines, shuffled, words_of
from tests.engines.documents.samples import empty_pages_pdf, pdf

LABELS = ("Invoice number", "Invoice date", "Due date", "Net amount", "VAT 19 %", "Total due")
VALUES = ("2024-0017", "04.03.2024", "18.03.2024", "1,037.45 EUR", "197.11 EUR", "1,234.56 EUR")
LEFT = """The tenant shall pay the agreed
rent on the third working day
of each month, without any
deduction, into the account which
the landlord has named in writing.
The deposit is due when the lease
begins, and bears interest at the
rate that banks pay for savings
deposits with a notice of three
months.""".splitlines()
RIGHT = """Small repairs are borne by the
tenant up to the sum of hundred
euros for each single case and
up to eight percent of the yearly
rent in all. All other repairs
are a matter of the landlord, who
must be told about any damage at
once and in writing. The tenant is
liable for damage that follows
from a late notice of it.""".splitlines()


def two_columns(offset: float = 0.0) -> list[PlacedText]:
    left = [(60.0, 150.0 + 12 * row, line) for row, line in enumerate(LEFT)]
    right = [(310.0, 150.0 + offset + 12 * row, line) for row, line in enumerate(RIGHT)]
    return [*left, *right]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_labels_are_on_the_lines_of_their_values(tmp_path: Path, rotation: int) -> None:
    labels = [(60.0, 200.0 + 16 * row, label) for row, label in enumerate(LABELS)]
    values = [(400.0, 200.0 + 16 * row, value) for row, value in enumerate(VALUES)]
    for order in ([*labels, *values], [*values, *labels], shuffled([*labels, *values])):
        rows = [f"{label} {value}" for label, value in zip(LABELS, VALUES, strict=True)]
        assert read_lines(tmp_path, order, rotation=rotation) == rows


@pytest.mark.parametrize("offset", [0.0, 5.0])
def test_columns_of_an_article_are_read_one_after_the_other(tmp_path: Path, offset: float) -> None:
    heading = [(60.0, 100.0, "Lease of a flat: what the tenant and the landlord agree upon here")]
    footer = [(60.0, 800.0, "Lease 17"), (520.0, 800.0, "Page 1")]
    texts = [*heading, *two_columns(offset), *footer]
    words = [place for x, y, line in texts for place in words_of(x, y, line)]
    for order in (texts, shuffled(texts), shuffled(words)):
        lines = [heading[0][2], *LEFT, *RIGHT, "Lease 17 Page 1"]
        assert read_lines(tmp_path, order) == lines


def test_columns_of_lines_that_begin_with_capitals(tmp_path: Path) -> None:
    left = [f"Left column has line number {row}" for row in range(1, 9)]
    right = [f"Right column has line number {row}" for row in range(1, 9)]
    texts = [(60.0, 150.0 + 14 * row, line) for row, line in enumerate(left)]
    texts += [(310.0, 150.0 + 14 * row, line) for row, line in enumerate(right)]
    assert read_lines(tmp_path, shuffled(texts)) == [*left, *right]


def test_three_columns_under_a_heading_and_two_below_another(tmp_path: Path) -> None:
    heads = "A heading that is as wide as the whole page is wide, from left to right"
    texts: list[PlacedText] = [(40, 60, heads), (40, 330, heads.upper())]
    lines = [f"of a column has line {row} its words" for row in range(8)]
    for column, x in enumerate((40, 220, 400)):
        texts += [(x, 100 + 12 * row, f"{column} {line}"[2:]) for row, line in enumerate(lines)]
    texts += [(40, 360 + 12 * row, line) for row, line in enumerate(LEFT)]
    texts += [(310, 365 + 12 * row, line) for row, line in enumerate(RIGHT)]
    expected = [heads, *lines * 3, heads.upper(), *LEFT, *RIGHT]
    assert read_lines(tmp_path, shuffled(texts)) == expected


def place_cells(rows: Sequence[Sequence[str]], columns: Sequence[float]) -> list[PlacedText]:
    """Return the cells of a table with their positions, row by row."""
    return [
        (x, 120.0 + 15 * y, text)
        for y, row in enumerate(rows)
        for x, text in zip(columns, row, strict=True)
    ]


def test_the_rows_of_a_table_stay_together(tmp_path: Path) -> None:
    rows = [["Pos.", "Description", "Qty", "Price"]]
    rows += [
        [f"{row}", f"Delivery of machine parts, lot {row}", f"{row * 3}", f"{row}17.50"]
        for row in range(1, 12)
    ]
    places = place_cells(rows, (50, 90, 380, 460))
    for order in (sorted(places), shuffled(places)):
        assert read_lines(tmp_path, order) == list(map(" ".join, rows))


def test_names_and_addresses_are_a_table(tmp_path: Path) -> None:
    rows = [
        ("Name", "Address", "Profession"),
        ("Ada Lovelace", "12 St James's Square, London", "Mathematician"),
        ("Alan Turing", "Sherborne School, Dorset", "Cryptanalyst of note"),
        ("Grace Hopper", "Arlington, Virginia", "Rear admiral"),
        ("Edsger Dijkstra", "Nuenen, North Brabant", "Professor of computing"),
        ("Barbara Liskov", "Cambridge, Massachusetts", "Professor"),
        ("Donald Knuth", "Stanford, California", "Professor emeritus"),
    ]
    places = sorted(place_cells(rows, (50, 200, 400)))
    assert read_lines(tmp_path, places) == list(map(" ".join, rows))


def test_a_description_that_wraps_keeps_its_numbers_beside_it(tmp_path: Path) -> None:
    places = []
    for row in range(6):
        y = 120 + 40.0 * row
        places += [
            (60, y, "Consulting on the new warehouse, with"),
            (60, y + 12, "travel to the site and back and all"),
            (60, y + 24, "reports about it"),
            (400, y, f"{row + 1}"),
            (480, y, f"{row}00.00"),
        ]
    assert read_lines(tmp_path, sorted(places))[::3] == [
        f"Consulting on the new warehouse, with {row + 1} {row}00.00" for row in range(6)
    ]


def test_a_crooked_scan_keeps_its_rows(tmp_path: Path) -> None:
    places = []
    for row, (label, value) in enumerate(zip(LABELS, VALUES, strict=True)):
        places += words_of(60, 120 + 13 * row, f"{label} of the order")
        places += words_of(440, 120 + 13 * row, value)
    upright = read_lines(tmp_path, places)
    assert upright[0] == "Invoice number of the order 2024-0017"
    for degrees in (-2.0, 1.5):
        assert read_lines(tmp_path, places, degrees=degrees) == upright
    # Text recognition of a skewed scan writes upright words on sloping lines.
    falling = [(x, y + 0.03 * x, word) for x, y, word in places]
    assert read_lines(tmp_path, falling) == upright


def test_superscripts_stay_in_their_line(tmp_path: Path) -> None:
    places = [(60.0, 100.0, "The area of 25 m"), (136.0, 95.5, "2"), (150.0, 100.0, "is let.")]
    places += [(60.0, 112.0, "The rent is due monthly."), (400.0, 100.0, "first")]
    first, second = read_lines(tmp_path, sorted(places, key=lambda place: place[1]))
    assert first.replace("m 2", "m2") == "The area of 25 m2 is let. first"
    assert second == "The rent is due monthly."


def test_sizes_that_differ_share_a_row(tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        for size, x, text in ((9, 60, "Total due"), (16, 400, "99.00"), (7, 460, "EUR")):
            canvas.setFont("Helvetica", size)
            canvas.drawString(x, 500, text)
        canvas.setFont("Helvetica", 9)
        canvas.drawString(60, 480, "within 30 days")

    data = pdf([()], size=(595, 842), draw=draw)
    assert parse_pdf(tmp_path, data).text == "Total due 99.00 EUR\nwithin 30 days"


def test_a_margin_of_short_lines_beside_running_text(tmp_path: Path) -> None:
    margin = ["Contact", "Zoe Smith", "Phone 030 12345", "Berlin", "Open daily"]
    places = [(60.0, 150.0 + 12 * row, line) for row, line in enumerate(LEFT)]
    places += [(430.0, 153.0 + 17 * row, line) for row, line in enumerate(margin)]
    assert read_lines(tmp_path, shuffled(places)) == [*LEFT, *margin]


def test_parts_of_a_word_become_one_word(tmp_path: Path) -> None:
    places = [(60.0, 100.0, "Total"), (200.0, 100.0, "EUR"), (60.0, 130.0, "Other")]
    places.append((84.45 + 96.7, 100.0, "100"))  # ends where EUR begins
    (first, _) = read_lines(tmp_path, places)
    assert first.split()[0] == "Total"
    assert "".join(first.split()) == "Total100EUR"


def test_empty_pages(tmp_path: Path) -> None:
    assert parse_pdf(tmp_path, empty_pages_pdf(3)).text == "\f\f"


@pytest.mark.parametrize("alignment", [TA_LEFT, TA_JUSTIFY])
@pytest.mark.parametrize(
    ("columns", "gutter"), [(2, 6), (2, 8), (2, 12), (2, 20), (3, 6), (3, 8), (3, 12), (3, 20)]
)
def test_set_columns_keep_their_paragraphs(
    tmp_path: Path, columns: int, gutter: int, alignment: int
) -> None:
    dice = random.Random(columns * gutter + alignment)
    words = [word.strip(".,") for line in (*LEFT, *RIGHT) for word in line.split()]
    paragraphs = [
        " ".join(dice.choices(words, k=dice.randint(30, 60))).capitalize() + "." for _ in range(10)
    ]
    width = (495 - gutter * (columns - 1)) / columns
    frames = [
        Frame(50 + number * (width + gutter), 280, width, 420, 0, 0, 0, 0)
        for number in range(columns)
    ]

    def draw_margins(canvas: Canvas, _: object) -> None:
        canvas.drawString(50, 760, "A title as wide as the page, or nearly so")
        canvas.drawString(50, 30, "2024")
        canvas.drawRightString(545, 30, "Page 1")

    style = ParagraphStyle("body", fontSize=10, leading=12, alignment=alignment, spaceAfter=6)
    out = io.BytesIO()
    template = BaseDocTemplate(out, pagesize=(595, 842))
    template.addPageTemplates(PageTemplate(frames=frames, onPage=draw_margins))
    template.build([Paragraph(text, style) for text in paragraphs])
    document = parse_pdf(tmp_path, out.getvalue())
    assert len(document.pages) == 1
    text = " ".join(document.text.split())
    assert [paragraph in text for paragraph in paragraphs] == [True] * len(paragraphs)
