"""Render invoices as PDF on A4 paper: with a letterhead, with borders, and in two columns."""

from reportlab.lib.pagesizes import A4

from demo.documents.model import Invoice, Party
from demo.documents.sheet import Column, Font, Sheet
from demo.documents.wording import (
    format_iban,
    get_wording,
    list_column_titles,
    list_heading_details,
    list_line_cells,
    list_totals,
)


def render_with_letterhead(invoice: Invoice) -> bytes:
    """Render an invoice with the sender in a colored band on the left."""
    words = get_wording(invoice.locale)
    sheet = Sheet(A4, title=f"{words['invoice']} {invoice.number}", author=invoice.supplier.name)
    _draw_band(sheet, invoice)
    left, right = 205.0, sheet.width - 45
    _draw_recipient(sheet, left, 95, invoice.customer)
    sheet.draw_text(left, 215, words["invoice"], Font(24, bold=True, color="#1f3b4d"))
    y = sheet.draw_pairs(left, right, 245, list_heading_details(invoice)[:3])
    columns = [Column(185), Column(40, "right"), Column(58, "right"), Column(62, "right")]
    y += 18
    sheet.draw_row(left, y, columns, list_column_titles(invoice), Font(8, bold=True), padding=0)
    sheet.draw_line(left, right, y + 6, 1.2, "#1f3b4d")
    for cells in list_line_cells(invoice):
        y += 22
        sheet.draw_row(left, y, columns, cells, Font(8.5), padding=0)
        sheet.draw_line(left, right, y + 7, 0.3, "#b8c4cc")
    *parts, total = list_totals(invoice)
    y = sheet.draw_pairs(left + 160, right, y + 34, parts)
    sheet.draw_line(left + 160, right, y - 8)
    sheet.draw_pairs(left + 160, right, y + 8, [total], Font(12, bold=True))
    sheet.draw_text(left, 690, invoice.note, Font(8))
    return sheet.to_bytes()


def render_with_borders(invoice: Invoice) -> bytes:
    """Render an invoice with a centered title, boxes for the parties, and a table with borders."""
    words = get_wording(invoice.locale)
    sheet = Sheet(A4, title=f"{words['invoice']} {invoice.number}", author=invoice.supplier.name)
    left, right = 50.0, sheet.width - 50
    title = Font(20, bold=True, family="Times")
    sheet.draw_text(sheet.width / 2, 70, words["invoice"].upper(), title, "center")
    half_width = (right - left) / 2
    sheet.draw_box(left, 95, half_width, 105)
    sheet.draw_box(left + half_width, 95, half_width, 105)
    supplier = invoice.supplier
    sheet.draw_text(left + 8, 112, supplier.name, Font(11, bold=True, family="Times"))
    contacts = [*supplier.address, supplier.phone, supplier.email]
    sheet.draw_text_lines(left + 8, 128, contacts, Font(9, family="Times"))
    sheet.draw_text(
        left + half_width + 8, 112, words["customer"], Font(9, bold=True, family="Times")
    )
    _draw_recipient(sheet, left + half_width + 8, 128, invoice.customer, Font(10, family="Times"))
    y = _draw_details(sheet, left, 215, right - left, list_heading_details(invoice))
    y = _draw_line_items(sheet, left, y + 20, invoice)
    if invoice.iban:
        sheet.draw_text(left, y + 40, f"{words['iban']} {format_iban(invoice.iban)}", Font(10))
    sheet.draw_text(left, y + 58, invoice.note, Font(9, family="Times"))
    return sheet.to_bytes()


def render_two_columns(invoice: Invoice) -> bytes:
    """Render an invoice with parties, dates and bank account in a narrow left column."""
    words = get_wording(invoice.locale)
    sheet = Sheet(A4, title=f"{words['invoice']} {invoice.number}", author=invoice.supplier.name)
    sheet.draw_text(45, 80, invoice.supplier.name, Font(19, color="#27509b"))
    sheet.draw_line(45, sheet.width - 45, 96, 2, "#27509b")
    _draw_side_column(sheet, invoice)
    left, right = 250.0, sheet.width - 45
    y = 145.0
    for description, quantity, price, amount in list_line_cells(invoice):
        sheet.draw_text(left, y, description, Font(10.5, bold=True))
        sheet.draw_text(
            left, y + 15, f"{quantity} \N{MULTIPLICATION SIGN} {price}", Font(9, color="#555555")
        )
        sheet.draw_text(right, y + 15, amount, Font(10.5), "right")
        sheet.draw_line(left, right, y + 25, 0.4, "#9fb3d1")
        y += 46
    *parts, total = list_totals(invoice)
    y = sheet.draw_pairs(left, right, y + 12, parts, Font(10), leading=18)
    sheet.draw_box(left - 8, y - 4, right - left + 16, 30, fill="#e6edf8", stroke=None)
    sheet.draw_pairs(left, right, y + 16, [total], Font(13, bold=True, color="#27509b"))
    sheet.draw_text(45, 790, invoice.note, Font(7.5))
    return sheet.to_bytes()


def _draw_band(sheet: Sheet, invoice: Invoice) -> None:
    words, supplier = get_wording(invoice.locale), invoice.supplier
    sheet.draw_box(0, 0, 165, sheet.height, fill="#1f3b4d", stroke=None)
    sheet.draw_box(28, 50, 44, 44, fill="#e0a526", stroke=None)
    light_font = Font(8.5, color="#ffffff")
    y = sheet.draw_text_lines(
        28, 125, supplier.name.split(" "), Font(13, bold=True, color="#ffffff")
    )
    sheet.draw_text(28, y + 14, supplier.name, Font(7, color="#ffffff"))
    y = sheet.draw_text_lines(28, y + 28, [*supplier.address, "", supplier.phone], light_font)
    sheet.draw_text(28, y, supplier.email, Font(7, color="#ffffff"))
    y = sheet.draw_text_lines(28, 700, [words["tax_id"], supplier.tax_id], light_font)
    if invoice.iban:
        sheet.draw_text(28, y + 8, words["iban"], light_font)
        sheet.draw_text(28, y + 20, format_iban(invoice.iban), Font(7.5, color="#ffffff"))


def _draw_recipient(
    sheet: Sheet, x: float, y: float, party: Party | None, font: Font | None = None
) -> float:
    if party is None:
        return y
    return sheet.draw_text_lines(x, y, [party.name, *party.address], font or Font(10))


def _draw_details(
    sheet: Sheet, x: float, y: float, width: float, details: list[tuple[str, str]]
) -> float:
    cell = width / len(details)
    for number, (label, text) in enumerate(details):
        sheet.draw_box(x + number * cell, y, cell, 34)
        sheet.draw_text(x + number * cell + 6, y + 12, label, Font(7.5, family="Times"))
        sheet.draw_text(x + number * cell + 6, y + 27, text, Font(10, bold=True, family="Times"))
    return y + 34


def _draw_line_items(sheet: Sheet, x: float, y: float, invoice: Invoice) -> float:
    columns = [Column(275), Column(60, "center"), Column(80, "right"), Column(80, "right")]
    edge = x
    width = sum(column.width for column in columns)
    rows = list_line_cells(invoice)
    sheet.draw_box(x, y, width, 22, fill="#dddddd")
    sheet.draw_row(
        x, y + 15, columns, list_column_titles(invoice), Font(10, bold=True, family="Times")
    )
    for number, cells in enumerate(rows, start=1):
        sheet.draw_row(x, y + 22 * number + 15, columns, cells, Font(10, family="Times"))
        sheet.draw_line(x, x + width, y + 22 * (number + 1))
    for column in columns:
        sheet.draw_box(edge, y, column.width, 22 * (len(rows) + 1))
        edge += column.width
    y += 22 * (len(rows) + 1)
    for label, text in list_totals(invoice):
        sheet.draw_box(x + 335, y, 160, 22)
        sheet.draw_pairs(
            x + 341, x + 491, y + 15, [(label, text)], Font(10, bold=True, family="Times")
        )
        y += 22
    return y


def _draw_side_column(sheet: Sheet, invoice: Invoice) -> None:
    words, supplier = get_wording(invoice.locale), invoice.supplier
    sections = [
        (words["supplier"], [supplier.name, *supplier.address, supplier.phone, supplier.email]),
        *((label, [text]) for label, text in list_heading_details(invoice)),
    ]
    if invoice.customer:
        sections.insert(1, (words["customer"], [invoice.customer.name, *invoice.customer.address]))
    if invoice.iban:
        sections.append((words["iban"], [format_iban(invoice.iban)]))
    y = 140.0
    for label, texts in sections:
        sheet.draw_text(45, y, label.upper(), Font(7, bold=True, color="#27509b"))
        y = sheet.draw_text_lines(45, y + 13, [text for text in texts if text]) + 12
