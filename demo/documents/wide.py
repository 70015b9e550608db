"""Draw invoices as PDF with wide, rotated, or many pages."""

from reportlab.lib.pagesizes import A4, LETTER, landscape

from demo.documents.model import Invoice
from demo.documents.sheet import Column, Font, Sheet
from demo.documents.wording import (
    format_iban,
    get_wording,
    list_column_titles,
    list_heading_facts,
    list_line_cells,
    list_totals,
)

LINES_PER_PAGE = 22


def draw_landscape(invoice: Invoice) -> bytes:
    """Draw a freight bill on a wide letter page with striped lines and totals at the bottom."""
    words, supplier = get_wording(invoice.locale), invoice.supplier
    size = landscape(LETTER)
    sheet = Sheet(size, title=f"{words['invoice']} {invoice.number}", author=supplier.name)
    _draw_wide_page(sheet, invoice, "#7a2e1d", "#f7ece8")
    return sheet.to_bytes()


def draw_rotated(invoice: Invoice) -> bytes:
    """Draw a landscape page as an office scanner stores it: sideways on upright paper.

    The page has /Rotate 90, so programs that support it show the text upright.
    """
    words, supplier = get_wording(invoice.locale), invoice.supplier
    size = landscape(A4)
    sheet = Sheet(size, title=f"{words['invoice']} {invoice.number}", author=supplier.name)
    # reportlab takes the size as seen and swaps the sides of the stored page itself.
    sheet.canvas.setPageRotation(90)
    sheet.canvas.translate(sheet.height, 0)
    sheet.canvas.rotate(90)
    _draw_wide_page(sheet, invoice, "#3e5c1e", "#eef3e6")
    return sheet.to_bytes()


def draw_many_pages(invoice: Invoice) -> bytes:
    """Draw a long list of goods, with the amount carried over at the top of each further page."""
    words = get_wording(invoice.locale)
    sheet = Sheet(A4, title=f"{words['invoice']} {invoice.number}", author=invoice.supplier.name)
    starts = range(0, len(invoice.lines), LINES_PER_PAGE)
    for page, start in enumerate(starts, start=1):
        y = (
            _draw_first_head(sheet, invoice)
            if page == 1
            else _draw_next_head(sheet, invoice, start)
        )
        y = _draw_goods(sheet, y, invoice, start)
        footer = f"{words['page']} {page} / {len(starts)}"
        sheet.text(sheet.width / 2, 815, footer, Font(8), "center")
        if page < len(starts):
            sheet.new_page()
    *parts, total = list_totals(invoice)
    y = sheet.pairs(330, sheet.width - 50, y + 16, parts)
    y = sheet.pairs(330, sheet.width - 50, y + 4, [total], Font(11, bold=True))
    if invoice.iban:
        sheet.text(50, y + 20, f"{words['iban']}: {format_iban(invoice.iban)}")
    sheet.text(50, y + 36, invoice.note, Font(8))
    return sheet.to_bytes()


def _draw_wide_page(sheet: Sheet, invoice: Invoice, color: str, tint: str) -> None:
    words, supplier, customer = get_wording(invoice.locale), invoice.supplier, invoice.customer
    left, right = 40.0, sheet.width - 40
    sheet.text(left, 58, supplier.name, Font(18, bold=True, color=color))
    sheet.text(right, 58, words["invoice"].upper(), Font(18, color=color), "right")
    contacts = "   ·   ".join(
        text for text in (*supplier.address, supplier.phone, supplier.email) if text
    )
    sheet.text(left, 76, contacts, Font(8.5))
    facts = list_heading_facts(invoice)
    if customer:
        facts.insert(0, (words["customer"], customer.name))
    cell = (right - left) / len(facts)
    sheet.box(left, 92, right - left, 42, fill=tint, stroke=color)
    for number, (label, text) in enumerate(facts):
        sheet.text(left + 8 + number * cell, 107, label, Font(7.5, color=color))
        sheet.text(left + 8 + number * cell, 124, text, Font(9.5, bold=True))
    if customer:
        sheet.text(left + 8, 150, ", ".join(customer.address), Font(8.5))
    y = _draw_striped_lines(sheet, left, right, 178, invoice, (color, tint))
    *parts, total = list_totals(invoice)
    y = sheet.pairs(right - 230, right - 8, y + 16, parts, leading=17)
    sheet.pairs(right - 230, right - 8, y + 4, [total], Font(13, bold=True, color=color))
    if invoice.iban:
        sheet.text(left, y - 17, f"{words['iban']}  {format_iban(invoice.iban)}", Font(10))
    sheet.text(left, y, invoice.note, Font(8.5))


def _draw_striped_lines(
    sheet: Sheet, left: float, right: float, y: float, invoice: Invoice, colors: tuple[str, str]
) -> float:
    color, tint = colors
    wide = right - left
    columns = [
        Column(wide * 0.55),
        Column(wide * 0.11, "right"),
        Column(wide * 0.16, "right"),
        Column(wide * 0.18, "right"),
    ]
    sheet.box(left, y - 15, wide, 22, fill=color, stroke=None)
    titles = Font(9.5, bold=True, color="#ffffff")
    sheet.row(left, y, columns, list_column_titles(invoice), titles, padding=8)
    for number, cells in enumerate(list_line_cells(invoice)):
        y += 22
        if number % 2:
            sheet.box(left, y - 15, wide, 22, fill=tint, stroke=None)
        sheet.row(left, y, columns, cells, Font(9.5), padding=8)
    return y + 22


def _draw_first_head(sheet: Sheet, invoice: Invoice) -> float:
    words, supplier, customer = get_wording(invoice.locale), invoice.supplier, invoice.customer
    sheet.box(sheet.width - 200, 40, 150, 26, fill="#d9231c", stroke=None)
    sheet.text(
        sheet.width - 125, 58, "EISEN & HAIN", Font(13, bold=True, color="#ffffff"), "center"
    )
    contacts = [supplier.name, *supplier.address, supplier.phone, supplier.email]
    sheet.texts(sheet.width - 200, 84, contacts, Font(8))
    if customer:
        sheet.texts(50, 110, [customer.name, *customer.address], Font(10))
    sheet.text(50, 190, f"{words['invoice']} {invoice.number}", Font(15, bold=True))
    return sheet.pairs(50, 250, 212, list_heading_facts(invoice), Font(9), leading=13) + 10


def _draw_next_head(sheet: Sheet, invoice: Invoice, start: int) -> float:
    words = get_wording(invoice.locale)
    carried = sum((line.amount for line in invoice.lines[:start]), invoice.lines[0].amount * 0)
    sheet.text(50, 50, f"{words['invoice']} {invoice.number}", Font(9, bold=True))
    sheet.text(sheet.width - 50, 50, invoice.supplier.name, Font(9), "right")
    sheet.pairs(50, sheet.width - 50, 74, [(words["carried"], words.figure(carried))])
    return 100


def _draw_goods(sheet: Sheet, y: float, invoice: Invoice, start: int) -> float:
    columns = [
        Column(35),
        Column(265),
        Column(50, "right"),
        Column(70, "right"),
        Column(75, "right"),
    ]
    sheet.row(50, y, columns, ("Pos.", *list_column_titles(invoice)), Font(8.5, bold=True))
    sheet.rule(50, sheet.width - 50, y + 5)
    rows = list_line_cells(invoice)[start : start + LINES_PER_PAGE]
    for position, cells in enumerate(rows, start=start + 1):
        y += 20
        sheet.row(50, y, columns, (str(position), *cells), Font(9))
    sheet.rule(50, sheet.width - 50, y + 7)
    return y + 7
