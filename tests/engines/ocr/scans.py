"""Pictures of text, as a scanner or a camera makes them."""

from io import BytesIO

from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader  # type: ignore[import-untyped]
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

LINES = ("Invoice number 2026-0042", "Total due 1,250.00 EUR", "Payable within 30 days")
_MARGIN, _SPACING, _FONT_SIZE = 40, 60, 32


def draw_scan(lines: tuple[str, ...] = LINES, size: tuple[int, int] = (560, 260)) -> Image.Image:
    """Return a picture with one line of text below the other."""
    picture = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(_FONT_SIZE)
    for number, line in enumerate(lines):
        draw.text((_MARGIN, _MARGIN + number * _SPACING), line, "black", font)
    return picture


def measure_word(line: int, word: int) -> tuple[float, float, float, float]:
    """Return the box of a word of `LINES` in its picture, in pixels."""
    words = LINES[line].split()
    font = ImageFont.load_default(_FONT_SIZE)
    left = font.getlength(" ".join([*words[:word], ""]))
    x0, y0, x1, y1 = font.getbbox(words[word])
    top = _MARGIN + line * _SPACING
    return _MARGIN + left + x0, top + y0, _MARGIN + left + x1, top + y1


def encode_png(picture: Image.Image) -> bytes:
    """Return a picture as a PNG file."""
    buffer = BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def make_stamped_pdf(words: str, *, height: int = 270) -> bytes:
    """Return a PDF with a picture of this height in points on a page of 300, and words on it."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=(420, 300), invariant=True)
    canvas.drawImage(ImageReader(draw_scan()), 0, 300 - height, 420, height)
    for number, line in enumerate(words.splitlines()):
        canvas.drawString(20, 100 - 25 * number, line)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def make_mixed_pdf(*pages: str | Image.Image | None) -> bytes:
    """Return a PDF whose pages have a text layer, are pictures, or are blank (None)."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=(420, 300), invariant=True)
    for page in pages:
        if isinstance(page, str):
            canvas.drawString(40, 250, page)
        elif page is not None:
            canvas.drawImage(ImageReader(page), 0, 50, 420, 195)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()
