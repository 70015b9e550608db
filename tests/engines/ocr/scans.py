"""Pictures of text, as a scanner or a camera makes them."""

from io import BytesIO

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont
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


def draw_page_at(dpi: int, lines: tuple[str, ...] = LINES) -> Image.Image:
    """Return an A4 page with lines in 11 points, as a scanner with this resolution makes it."""
    page = Image.new("RGB", (round(8.27 * dpi), round(11.69 * dpi)), "white")
    draw = ImageDraw.Draw(page)
    font = ImageFont.load_default(11 * dpi / 72)
    for number, line in enumerate(lines):
        draw.text((dpi, dpi * (1 + number / 3)), line, "black", font)
    return page


def encode_photograph(page: Image.Image) -> bytes:
    """Return a JPEG of the page on a dark table: askew, unevenly lit, blurred and with noise."""
    noise = Image.effect_noise(page.size, 40).convert("RGB")
    light = Image.linear_gradient("L").resize(page.size).point(lambda value: 110 + value // 2)
    lit = ImageChops.multiply(Image.blend(page, noise, 0.15), light.convert("RGB"))
    size = round(page.width * 1.2), round(page.height * 1.2)
    table = Image.new("RGB", size, (60, 45, 35))
    turned = lit.rotate(4, Image.Resampling.BICUBIC, expand=True, fillcolor=(60, 45, 35))
    table.paste(turned, ((size[0] - turned.width) // 2, (size[1] - turned.height) // 2))
    buffer = BytesIO()
    table.filter(ImageFilter.GaussianBlur(1)).save(buffer, "JPEG", quality=70)
    return buffer.getvalue()


def measure_word(line: int, word: int) -> tuple[float, float, float, float]:
    """Return the box of a word of `LINES` in its picture, in pixels."""
    words = LINES[line].split()
    font = ImageFont.load_default(_FONT_SIZE)
    left = font.getlength(" ".join([*words[:word], ""]))
    x0, y0, x1, y1 = font.getbbox(words[word])
    top = _MARGIN + line * _SPACING
    return _MARGIN + left + x0, top + y0, _MARGIN + left + x1, top + y1


def encode_png(picture: Image.Image, **options: object) -> bytes:
    """Return a picture as a PNG file."""
    buffer = BytesIO()
    picture.save(buffer, "PNG", **options)  # type: ignore[arg-type]
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
