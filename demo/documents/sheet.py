"""Draw on PDF pages, with the origin at the top left and all sizes in points."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Literal

from reportlab.lib.colors import HexColor
from reportlab.pdfgen.canvas import Canvas

Align = Literal["left", "right", "center"]
INK = "#1c1c1c"


@dataclass(frozen=True, slots=True)
class Column:
    """A table column; `width` is in points."""

    width: float
    align: Align = "left"


@dataclass(frozen=True, slots=True)
class Font:
    """A font from the standard PDF font families, which need not be embedded."""

    size: float = 9
    bold: bool = False
    family: Literal["Helvetica", "Times", "Courier"] = "Helvetica"
    color: str = INK

    @property
    def name(self) -> str:
        """Return the PostScript name of the font, such as `Times-Bold`."""
        if self.family == "Times":
            return "Times-Bold" if self.bold else "Times-Roman"
        return f"{self.family}-Bold" if self.bold else self.family


PLAIN = Font()


class Sheet:
    """A PDF file that is being drawn; the same calls always give the same bytes."""

    def __init__(self, size: tuple[float, float], *, title: str, author: str) -> None:
        self.width, self.height = size
        self._buffer = BytesIO()
        self.canvas = Canvas(self._buffer, pagesize=size, invariant=1)
        self.canvas.setTitle(title)
        self.canvas.setAuthor(author)

    def draw_text(
        self, x: float, y: float, text: str, font: Font = PLAIN, align: Align = "left"
    ) -> None:
        """Draw a line of text with its baseline at `y`, and its `align` edge or center at `x`."""
        self.canvas.setFont(font.name, font.size)
        self.canvas.setFillColor(HexColor(font.color))
        draw = {
            "left": self.canvas.drawString,
            "right": self.canvas.drawRightString,
            "center": self.canvas.drawCentredString,
        }[align]
        draw(x, self.height - y, text)

    def draw_text_lines(
        self, x: float, y: float, texts: Iterable[str], font: Font = PLAIN
    ) -> float:
        """Draw lines of text below each other, and return the baseline for the next line."""
        for text in texts:
            self.draw_text(x, y, text, font)
            y += font.size * 1.4
        return y

    def draw_line(
        self, x0: float, x1: float, y: float, width: float = 0.6, color: str = INK
    ) -> None:
        """Draw a horizontal line from `x0` to `x1`."""
        self.canvas.setStrokeColor(HexColor(color))
        self.canvas.setLineWidth(width)
        self.canvas.line(x0, self.height - y, x1, self.height - y)

    def draw_box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str | None = None,
        stroke: str | None = INK,
    ) -> None:
        """Draw a rectangle with its top left corner at (x, y)."""
        self.canvas.setLineWidth(0.7)
        if fill:
            self.canvas.setFillColor(HexColor(fill))
        if stroke:
            self.canvas.setStrokeColor(HexColor(stroke))
        bottom = self.height - y - height
        self.canvas.rect(x, bottom, width, height, stroke=int(bool(stroke)), fill=int(bool(fill)))

    def draw_row(
        self,
        x: float,
        y: float,
        columns: Sequence[Column],
        cells: Sequence[str],
        font: Font = PLAIN,
        *,
        padding: float = 4,
    ) -> None:
        """Draw the cells of a table row on a common baseline."""
        for column, cell in zip(columns, cells, strict=True):
            anchors = {
                "left": x + padding,
                "right": x + column.width - padding,
                "center": x + column.width / 2,
            }
            self.draw_text(anchors[column.align], y, cell, font, column.align)
            x += column.width

    def draw_pairs(
        self,
        left: float,
        right: float,
        y: float,
        pairs: Iterable[tuple[str, str]],
        font: Font = PLAIN,
        *,
        leading: float = 15,
    ) -> float:
        """Draw labels on the left and values on the right. Return the next pair's baseline."""
        for label, text in pairs:
            self.draw_text(left, y, label, font)
            self.draw_text(right, y, text, font, "right")
            y += leading
        return y

    def start_page(self) -> None:
        """End the current page, and start a new page of the same size."""
        self.canvas.showPage()

    def to_bytes(self) -> bytes:
        """Complete the PDF, and return the bytes of the file."""
        self.canvas.save()
        return self._buffer.getvalue()
