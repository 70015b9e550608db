"""Render an invoice as a scan: a gray image of the page, without a text layer."""

from functools import cache
from hashlib import shake_256
from io import BytesIO
from pathlib import Path

import reportlab
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from demo.documents.model import Invoice
from demo.documents.wording import (
    format_iban,
    get_wording,
    list_column_titles,
    list_heading_details,
    list_line_cells,
    list_totals,
)

PAPER, INK = 244, 40
SIZE = (1240, 1754)  # A4 at 150 dots per inch
SKEW_DEGREES = 1.1
NOISE_FRACTION = 0.07


def render_scan(invoice: Invoice) -> bytes:
    """Render an invoice as a PDF that contains only a slightly rotated and noisy image."""
    picture = _add_noise(_draw_page(invoice))
    jpeg = BytesIO()
    picture.save(jpeg, "JPEG", quality=55)
    target = BytesIO()
    canvas = Canvas(target, pagesize=A4, invariant=1)
    canvas.drawImage(ImageReader(BytesIO(jpeg.getvalue())), 0, 0, *A4)
    canvas.save()
    return target.getvalue()


def _draw_page(invoice: Invoice) -> Image.Image:
    words, supplier, customer = get_wording(invoice.locale), invoice.supplier, invoice.customer
    page = Image.new("L", SIZE, PAPER)
    pen = ImageDraw.Draw(page)
    _write_text(pen, 120, 110, supplier.name, 52)
    _write_text(pen, 120, 185, "   ".join((*supplier.address, supplier.phone)), 24)
    pen.line((120, 230, 1120, 230), INK, 4)
    if customer:
        for number, text in enumerate((customer.name, *customer.address)):
            _write_text(pen, 120, 300 + 38 * number, text, 28)
    for number, (label, text) in enumerate(list_heading_details(invoice)):
        _write_text(pen, 720, 300 + 38 * number, f"{label}: {text}", 26)
    _write_text(pen, 120, 500, words["invoice"].upper(), 44)
    y = _draw_table(pen, 600, invoice)
    for label, text in list_totals(invoice):
        _write_text(pen, 700, y, label, 28)
        _write_text(pen, 1120, y, text, 28, anchor="ra")
        y += 46
    if invoice.iban:
        _write_text(pen, 120, 1480, f"{words['iban']} {format_iban(invoice.iban)}", 26)
    _write_text(pen, 120, 1530, invoice.note, 26)
    return page


def _draw_table(pen: ImageDraw.ImageDraw, y: int, invoice: Invoice) -> int:
    edges = ((120, "la"), (780, "ra"), (950, "ra"), (1120, "ra"))
    for cells in (list_column_titles(invoice), *list_line_cells(invoice)):
        for (x, anchor), text in zip(edges, cells, strict=True):
            _write_text(pen, x, y, text, 27, anchor=anchor)
        pen.line((120, y + 42, 1120, y + 42), INK + 60, 2)
        y += 58
    return y + 20


def _write_text(
    pen: ImageDraw.ImageDraw, x: int, y: int, text: str, size: int, *, anchor: str = "la"
) -> None:
    pen.text((x, y), text, fill=INK, font=_load_font(size), anchor=anchor)


@cache
def _load_font(size: int) -> ImageFont.FreeTypeFont:
    # The default font of Pillow has no pound sign; reportlab includes Bitstream Vera.
    return ImageFont.truetype(str(Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"), size)


def _add_noise(page: Image.Image) -> Image.Image:
    rotated = page.rotate(SKEW_DEGREES, Image.Resampling.BILINEAR, fillcolor=PAPER)
    # A hash stream gives the same noise on every machine and Python version.
    grain = Image.frombytes("L", SIZE, shake_256(b"grain").digest(SIZE[0] * SIZE[1]))
    return Image.blend(rotated, grain, NOISE_FRACTION)
