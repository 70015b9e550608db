"""Create invoices with a typical layout: blocks side by side, a table, totals and two columns."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfgen.canvas import Canvas

from tests.engines.documents.pages import A4
from tests.engines.documents.samples import pdf

_TERMS = """The goods remain our property until they are paid in full, together with all claims from
earlier deliveries. The buyer may process and sell them in the ordinary course of business and
assigns to us here and now all claims that arise from the sale. Payment is due within thirty days
of the date of the invoice, without deduction. If it is late, we charge interest of nine
percentage points above the base rate. Complaints about visible defects must reach us in writing
within eight days of the delivery; hidden defects must be reported at once when they are found.
We repair defective goods or replace them, whichever we choose. Further claims are excluded unless
we acted with intent or gross negligence. Offsetting is allowed only with claims that are not
disputed or have been confirmed by a court. The place of performance is the seat of our company.
German law applies, and the convention on contracts for the international sale of goods does not.
Should a provision be void, the others stay in force, and the parties agree on one that comes
closest to what they meant. Additions to the contract must be in writing, and so must a waiver of
this clause. Data of the order are stored and processed as far as the business relation needs it;
our notice on data protection has the details and names the person to turn to."""
TERMS = _TERMS.split()


@dataclass(frozen=True)
class Word:
    """A word with its position in points from the top left."""

    text: str
    x: float
    y: float
    face: str
    size: float


@dataclass
class InvoicePage:
    """A page whose words are added in reading order."""

    words: list[Word] = field(default_factory=list)
    face: str = "Helvetica"
    size: float = 9.0

    def add_line(self, x: float, y: float, text: str, *, space: float | None = None) -> None:
        """Add a line that begins at `x`."""
        if space is None:
            space = pdfmetrics.stringWidth(" ", self.face, self.size)
        for word in text.split():
            self.words.append(Word(word, x, y, self.face, self.size))
            x += self.measure(word) + space

    def add_right_aligned(self, x: float, y: float, text: str) -> None:
        """Add a line that ends at `x`."""
        self.add_line(x - self.measure(text), y, text)

    def measure(self, text: str) -> float:
        return float(pdfmetrics.stringWidth(text, self.face, self.size))

    def add_row(self, y: float, *cells: tuple[float, str]) -> None:
        """Add cells from left to right. A negative position is the right side of a cell."""
        for x, text in cells:
            if x < 0:
                self.add_right_aligned(-x, y, text)
            else:
                self.add_line(x, y, text)

    def add_columns(
        self,
        top: float,
        lefts: Sequence[float],
        width: float,
        texts: Sequence[Sequence[str]],
        *,
        leading: float,
        justified: bool = True,
    ) -> None:
        """Add running text in columns, one after the other."""
        for left, words in zip(lefts, texts, strict=True):
            for number, (line, is_last) in enumerate(self._wrap(words, width)):
                space = None
                if justified and not is_last and len(line) > 1:
                    space = (width - sum(map(self.measure, line))) / (len(line) - 1)
                self.add_line(left, top + number * leading, " ".join(line), space=space)

    def _wrap(self, words: Sequence[str], width: float) -> list[tuple[list[str], bool]]:
        lines: list[list[str]] = [[]]
        for word in words:
            if lines[-1] and self.measure(" ".join([*lines[-1], word])) > width:
                lines.append([])
            lines[-1].append(word)
        return [(line, line is lines[-1]) for line in lines]

    def shuffle_words(self, seed: int) -> list[Word]:
        """Return the words in random order, in which the file draws them."""
        mixed = list(self.words)
        random.Random(seed).shuffle(mixed)
        return mixed

    def build_pdf(self, seed: int) -> bytes:
        """Return a PDF of the page, whose words are not drawn in reading order."""
        mixed = self.shuffle_words(seed)

        def draw(canvas: Canvas) -> None:
            for word in mixed:
                canvas.setFont(word.face, word.size)
                canvas.drawString(word.x, A4[1] - word.y, word.text)

        return pdf([()], size=A4, draw=draw)


InvoiceLayout = Callable[[float], InvoicePage]
"""A function that lays out an invoice with columns whose gutter has this width in points."""


def add_header(page: InvoicePage, *, right: float = 350) -> None:
    """Add a header: the address, and beside it the invoice details as labels and values."""
    page.add_row(60, (50, "Northern Tools GmbH"), (right, "INVOICE"))
    address = ("Harbor Trading Ltd.", "Attn. Accounts Payable", "14 Quay Street", "London E1 7AA")
    details = (
        ("Invoice number", "2026-00417"),
        ("Invoice date", "22.11.2026"),
        ("Customer number", "K-20811"),
        ("Delivery date", "18.11.2026"),
    )
    for row, (line, (label, value)) in enumerate(zip(address, details, strict=True)):
        page.add_row(120 + 13 * row, (50, line), (right, label), (-545, value))


def add_table(page: InvoicePage, top: float, rows: int, *, wrapped: bool = False) -> float:
    """Add a table of items; `wrapped` descriptions have a second line. Returns its lower edge."""
    page.add_row(top, (50, "Pos."), (80, "Description"), (-360, "Qty"), (-450, "Unit price"),
              (-545, "Amount"))  # fmt: skip
    y = top + 16
    for row in range(1, rows + 1):
        amount = f"{row * 37}.50"
        page.add_row(y, (50, str(row)), (80, f"Hardened drill bit, lot {row}, with coating"),
                  (-360, str(row * 2)), (-450, amount), (-545, f"{row * 75}.00"))  # fmt: skip
        y += 11
        if wrapped:
            page.add_line(80, y, "for steel and cast iron, as agreed")
            y += 11
        y += 3
    return y


def add_totals(page: InvoicePage, top: float) -> float:
    """Add the totals on the right, as labels and amounts. Returns their lower edge."""
    lines = (("Net amount", "1,125.00 EUR"), ("VAT 19 %", "213.75 EUR"), ("Total", "1,338.75 EUR"))
    for row, (label, amount) in enumerate(lines):
        page.add_row(top + 13 * row, (370, label), (-545, amount))
    return top + 13 * len(lines)


def add_footer(page: InvoicePage) -> None:
    """Add a footer of three short blocks side by side."""
    rows = (
        ("Northern Tools GmbH", "Commerzbank Hamburg", "Managing director"),
        ("Speicherstadt 4", "DE89 3704 0044 0532 0130 00", "Anna Petersen"),
        ("20457 Hamburg", "COBADEFFXXX", "VAT ID DE123456789"),
    )
    for row, cells in enumerate(rows):
        page.add_row(790 + 11 * row, *zip((50, 230, 420), cells, strict=True))


def add_terms(
    page: InvoicePage,
    top: float,
    *,
    gutter: float,
    count: int = 2,
    leading: float = 10.5,
    justified: bool = True,
    words: int = len(TERMS),
) -> None:
    """Add the terms of sale in columns that fill the width of the page."""
    width = (495 - gutter * (count - 1)) / count
    words_per_column = -(-words // count)
    texts = [
        TERMS[number * words_per_column : min(words, (number + 1) * words_per_column)]
        for number in range(count)
    ]
    lefts = [50 + number * (width + gutter) for number in range(count)]
    page.add_columns(top, lefts, width, texts, leading=leading, justified=justified)
