"""Create PDF pages whose words are drawn in any order."""

import io
import random
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from pymupdf_fonts import FiraGO_Regular  # type: ignore[import-untyped]
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from app.engines.documents import ParsedDocument
from app.engines.documents.media import PDF
from tests.engines.documents.parsing import parse_data
from tests.engines.documents.samples import pdf, raw_pdf

PlacedText = tuple[float, float, str]
"""A tuple of x and y in points from the top left, and the text at this position."""

A4 = (595, 842)
FACE = "FiraGO"
SIZE = 10


def placed_pdf(
    texts: Iterable[PlacedText],
    *,
    face: str = "Helvetica",
    degrees: float = 0,
    rotation: int = 0,
    crop: tuple[float, float, float, float] | None = None,
) -> bytes:
    """Return an A4 page that draws each text at its position, in the given order."""
    if face == FACE:
        register_face()

    def draw(canvas: Canvas) -> None:
        canvas.translate(0, A4[1])
        canvas.rotate(degrees)
        for x, y, text in texts:
            canvas.setFont(face, SIZE)
            canvas.drawString(x, -y, text)

    return pdf([()], size=A4, rotation=rotation, crop=crop, draw=draw)


def words_of(x: float, y: float, line: str) -> list[PlacedText]:
    """Return the words of a line with their positions."""
    words: list[PlacedText] = []
    for word in line.split():
        words.append((x, y, word))
        x += pdfmetrics.stringWidth(word + " ", "Helvetica", SIZE)
    return words


def shuffled(texts: Iterable[PlacedText]) -> list[PlacedText]:
    mixed = list(texts)
    random.Random(7).shuffle(mixed)
    return mixed


@cache
def register_face() -> None:
    """Register a font with Hebrew and Arabic in reportlab."""
    pdfmetrics.registerFont(TTFont(FACE, io.BytesIO(FiraGO_Regular.fontbuffer)))


def encoded_pdf(content: bytes, meanings: dict[int, str]) -> bytes:
    """Return a PDF page whose font maps codes to the characters in `meanings`."""
    lines = "".join(
        f"<{code:02x}> <{text.encode('utf-16-be').hex()}>\n" for code, text in meanings.items()
    )
    table = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n"
        "1 begincodespacerange <00> <ff> endcodespacerange\n"
        f"{len(meanings)} beginbfchar\n{lines}endbfchar\nendcmap end end"
    ).encode()
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R"
    stream = b"BT /F 12 Tf 30 200 Td %s ET" % content
    return raw_pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
            page + b"/Resources<</Font<</F 5 0 R>>>>>>",
            b"<</Length %d>>\nstream\n%s\nendstream" % (len(stream), stream),
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>",
            b"<</Length %d>>\nstream\n%s\nendstream" % (len(table), table),
        ]
    )


def parse_pdf(folder: Path, data: bytes) -> ParsedDocument:
    """Parse a PDF, and check its offsets."""
    document = parse_data(folder, data, PDF)
    check_offsets(document)
    return document


def read_lines(folder: Path, texts: Iterable[PlacedText], **options: Any) -> list[str]:
    """Return the lines of a page that draws texts. `options` are those of `placed_pdf`."""
    return parse_pdf(folder, placed_pdf(texts, **options)).text.split("\n")


def check_offsets(document: ParsedDocument) -> None:
    """Check that offsets, words and boxes match the text, page by page."""
    assert document.text == "\f".join(page.text for page in document.pages)
    for page in document.pages:
        assert document.text[page.start : page.end] == page.text
        assert "".join(word.text for word in page.words) == "".join(page.text.split())
        ends = [page.start]
        for word in page.words:
            assert document.text[word.start : word.end] == word.text
            assert word.start >= ends[-1]
            ends.append(word.end)
            x0, y0, x1, y1 = word.box
            assert 0 <= x0 < x1 <= 1
            assert 0 <= y0 < y1 <= 1
