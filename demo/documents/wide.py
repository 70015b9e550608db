"""Render invoices as PDF with wide pages, rotated pages, or many pages."""

from reportlab.lib.pagesizes import A4, LETTER, landscape

from demo.documents.model import Invoice
from demo.documents.sheet import Column, Font, Sheet
from demo.documents.wording import (
    format_iban,
    get_wording,
    list_column_titles,
    list_heading_details,
    list_line_cells,
    list_totals,
)

LINES_PER_PAGE = 22


def render_landscape(invoice: Invoice) -> bytes:
    """Render a freight bill on a landscape letter page, with striped lines and totals below."""
    words, supplier = get_wording(invoice.locale), invoice.supplier
    size = landscape(LETTER)
    sheet = Sheet(size, title=f"{words['invoice']} {invoice.number}", author=supplier.name)
    _draw_wide_page(sheet, invoice, "#7a2e1d", "#f7ece8")
    return sheet.to_bytes()


def render_rotated(invoice: Invoice) -> bytes:
    """Render a landscape page as an office scanner stores it: sideways on a portrait page.

    The page has /Rotate 90, so programs that support this property show the text upright.
    """
    words, supplier = get_wording(invoice.locale), invoice.supplier
    size = landscape(A4)
    sheet = Sheet(size, title=f"{words['invoice']} {invoice.number}", author=supplier.name)
    # reportlab expects the visible size, and swaps the sides of the stored page.
    sheet.canvas.setPageRotation(90)
    sheet.canvas.translate(sheet.height, 0)
    sheet.canvas.rotate(90)
    _draw_wide_page(sheet, invoice, "#3e5c1e", "#eef3e6")
    return sheet.to_bytes()


def render_many_pages(invoice: Invoice) -> bytes:
    """Render an invoice with many lines; each new page begins with the amount carried forward."""
    words = get_wording(invoice.locale)
    sheet = Sheet(A4, title=f"{words['invoice']} {invoice.number}", author=invoice.supplier.name)
    starts = range(0, len(invoice.lines), LINES_PER_PAGE)
    for page, start in enumerate(starts, start=1):
        y = (
            _draw_first_header(sheet, invoice)
            if page == 1
            else _draw_next_header(sheet, invoice, start)
        )
        y = _draw_line_items(sheet, y, invoice, start)
        footer = f"{words['page']} {page} / {len(starts)}"
        sheet.draw_text(sheet.width / 2, 815, footer, Font(8), "center")
        if page < len(starts):
            sheet.start_page()
    *parts, total = list_totals(invoice)
    y = sheet.draw_pairs(330, sheet.width - 50, y + 16, parts)
    y = sheet.draw_pairs(330, sheet.width - 50, y + 4, [total], Font(11, bold=True))
    if invoice.iban:
        sheet.draw_text(50, y + 20, f"{words['iban']}: {format_iban(invoice.iban)}")
    sheet.draw_text(50, y + 36, invoice.note, Font(8))
    return sheet.to_bytes()


def _draw_wide_page(sheet: Sheet, invoice: Invoice, color: str, tint: str) -> None:
    words, supplier, customer = get_wording(invoice.locale), invoice.supplier, invoice.customer
    left, right = 40.0, sheet.width - 40
    sheet.draw_text(left, 58, supplier.name, Font(18, bold=True, color=color))
    sheet.draw_text(right, 58, words["invoice"].upper(), Font(18, color=color), "right")
    contacts = "   ·   ".join(
        text for text in (*supplier.address, supplier.phone, supplier.email) if text
    )
    sheet.draw_text(left, 76, contacts, Font(8.5))
    details = list_heading_details(invoice)
    if customer:
        details.insert(0, (words["customer"], customer.name))
    cell = (right - left) / len(details)
    sheet.draw_box(left, 92, right - left, 42, fill=tint, stroke=color)
    for number, (label, text) in enumerate(details):
        sheet.draw_text(left + 8 + number * cell, 107, label, Font(7.5, color=color))
        sheet.draw_text(left + 8 + number * cell, 124, text, Font(9.5, bold=True))
    if customer:
        sheet.draw_text(left + 8, 150, ", ".join(customer.address), Font(8.5))
    y = _draw_striped_lines(sheet, left, right, 178, invoice, (color, tint))
    *parts, total = list_totals(invoice)
    y = sheet.draw_pairs(right - 230, right - 8, y + 16, parts, leading=17)
    sheet.draw_pairs(right - 230, right - 8, y + 4, [total], Font(13, bold=True, color=color))
    if invoice.iban:
        sheet.draw_text(left, y - 17, f"{words['iban']}  {format_iban(invoice.iban)}", Font(10))
    sheet.draw_text(left, y, invoice.note, Font(8.5))


def _draw_striped_lines(
    sheet: Sheet, left: float, right: float, y: float, invoice: Invoice, colors: tuple[str, str]
) -> float:
    color, tint = colors
    table_width = right - left
    columns = [
        Column(table_width * 0.55),
        Column(table_width * 0.11, "right"),
        Column(table_width * 0.16, "right"),
        Column(table_width * 0.18, "right"),
    ]
    sheet.draw_box(left, y - 15, table_width, 22, fill=color, stroke=None)
    titles = Font(9.5, bold=True, color="#ffffff")
    sheet.draw_row(left, y, columns, list_column_titles(invoice), titles, padding=8)
    for number, cells in enumerate(list_line_cells(invoice)):
        y += 22
        if number % 2:
            sheet.draw_box(left, y - 15, table_width, 22, fill=tint, stroke=None)
        sheet.draw_row(left, y, columns, cells, Font(9.5), padding=8)
    return y + 22


def _draw_first_header(sheet: Sheet, invoice: Invoice) -> float:
    words, supplier, customer = get_wording(invoice.locale), invoice.supplier, invoice.customer
    sheet.draw_box(sheet.width - 200, 40, 150, 26, fill="#d9231c", stroke=None)
    sheet.draw_text(
        sheet.width - 125, 58, "EISEN & HAIN", Font(13, bold=True, color="#ffffff"), "center"
    )
    contacts = [supplier.name, *supplier.address, supplier.phone, supplier.email]
    sheet.draw_text_lines(sheet.width - 200, 84, contacts, Font(8))
    if customer:
        sheet.draw_text_lines(50, 110, [customer.name, *customer.address], Font(10))
    sheet.draw_text(50, 190, f"{words['invoice']} {invoice.number}", Font(15, bold=True))
    return sheet.draw_pairs(50, 250, 212, list_heading_details(invoice), Font(9), leading=13) + 10


def _draw_next_header(sheet: Sheet, invoice: Invoice, start: int) -> float:
    words = get_wording(invoice.locale)
    carried_amount = sum(
        (line.amount for line in invoice.lines[:start]), invoice.lines[0].amount * 0
    )
    sheet.draw_text(50, 50, f"{words['invoice']} {invoice.number}", Font(9, bold=True))
    sheet.draw_text(sheet.width - 50, 50, invoice.supplier.name, Font(9), "right")
    sheet.draw_pairs(
        50, sheet.width - 50, 74, [(words["carried"], words.format_number(carried_amount))]
    )
    return 100


def _draw_line_items(sheet: Sheet, y: float, invoice: Invoice, start: int) -> float:
    columns = [
        Column(35),
        Column(265),
        Column(50, "right"),
        Column(70, "right"),
        Column(75, "right"),
    ]
    sheet.draw_row(50, y, columns, ("Pos.", *list_column_titles(invoice)), Font(8.5, bold=True))
    sheet.draw_line(50, sheet.width - 50, y + 5)
    rows = list_line_cells(invoice)[start : start + LINES_PER_PAGE]
    for position, cells in enumerate(rows, start=start + 1):
        y += 20
        sheet.draw_row(50, y, columns, (str(position), *cells), Font(9))
    sheet.draw_line(50, sheet.width - 50, y + 7)
    return y + 7
