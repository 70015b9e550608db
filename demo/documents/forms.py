"""Render invoices as PDF: a receipt, and a form with numbered boxes."""

from reportlab.lib.pagesizes import LETTER
from reportlab.lib.units import mm

from demo.documents.model import Invoice
from demo.documents.sheet import Column, Font, Sheet
from demo.documents.wording import (
    get_wording,
    list_column_titles,
    list_heading_details,
    list_line_cells,
    list_totals,
)


def render_receipt(invoice: Invoice) -> bytes:
    """Render a receipt, 80 mm wide and as long as its content, in a monospaced font."""
    words, supplier = get_wording(invoice.locale), invoice.supplier
    size = (80 * mm, 250 + 28 * len(invoice.lines))
    sheet = Sheet(size, title=f"{words['invoice']} {invoice.number}", author=supplier.name)
    left, right, center_x = 14.0, sheet.width - 14, sheet.width / 2
    mono, bold = Font(8.5, family="Courier"), Font(12, bold=True, family="Courier")
    sheet.draw_text(center_x, 32, supplier.name, bold, "center")
    y = 48.0
    for text in supplier.address:
        sheet.draw_text(center_x, y, text, mono, "center")
        y += 12
    y = sheet.draw_pairs(left, right, y + 8, list_heading_details(invoice), mono, leading=12)
    _draw_dashes(sheet, left, right, y)
    for description, quantity, price, amount in list_line_cells(invoice):
        sheet.draw_text(left, y + 16, description, mono)
        sheet.draw_pairs(left, right, y + 28, [(f"  {quantity} x {price}", amount)], mono)
        y += 28
    _draw_dashes(sheet, left, right, y + 8)
    *parts, total = list_totals(invoice)
    y = sheet.draw_pairs(left, right, y + 26, parts, mono, leading=12)
    sheet.draw_pairs(left, right, y + 6, [(total[0].upper(), total[1])], bold)
    if invoice.paid:
        sheet.draw_text(center_x, y + 28, f"*** {words['paid'].upper()} ***", mono, "center")
    sheet.draw_text(center_x, y + 48, invoice.note, mono, "center")
    return sheet.to_bytes()


def render_boxed_form(invoice: Invoice) -> bytes:
    """Render a work order on US Letter paper, with the values in numbered boxes."""
    words, supplier, customer = get_wording(invoice.locale), invoice.supplier, invoice.customer
    sheet = Sheet(LETTER, title=f"{words['invoice']} {invoice.number}", author=supplier.name)
    left, right = 40.0, sheet.width - 40
    sheet.draw_box(left, 36, right - left, 40, fill="#20302a")
    heading = Font(16, bold=True, color="#ffffff")
    sheet.draw_text(left + 12, 62, f"{words['invoice'].upper()} / WORK ORDER", heading)
    sheet.draw_text(right - 12, 61, "FORM 88-C", Font(10, color="#ffffff"), "right")
    full_width = right - left
    _draw_boxes(sheet, left, 76, 46, [("1", words["supplier"], supplier.name, full_width)])
    address = [
        (str(2 + n), f"Address {n + 1}", t, full_width / 2) for n, t in enumerate(supplier.address)
    ]
    _draw_boxes(sheet, left, 122, 40, address)
    details = list_heading_details(invoice)
    cells = [
        (str(4 + n), label, text, full_width / len(details))
        for n, (label, text) in enumerate(details)
    ]
    _draw_boxes(sheet, left, 162, 40, cells)
    if customer:
        bill_to = [("8", words["customer"], customer.name, full_width / 2)]
        bill_to.append(("9", "Service location", ", ".join(customer.address), full_width / 2))
        _draw_boxes(sheet, left, 202, 40, bill_to)
    y = _draw_line_items(sheet, left, 242, invoice)
    totals = [
        (str(11 + number), label, text, full_width / 3)
        for number, (label, text) in enumerate(list_totals(invoice))
    ]
    _draw_boxes(sheet, left, y, 44, totals)
    _draw_checkbox(sheet, left, y + 60, words["paid"], ticked=invoice.paid)
    sheet.draw_text(left + 90, y + 69, invoice.note, Font(9))
    return sheet.to_bytes()


def _draw_dashes(sheet: Sheet, left: float, right: float, y: float) -> None:
    sheet.canvas.setDash(3, 2)
    sheet.draw_line(left, right, y)
    sheet.canvas.setDash()


def _draw_boxes(
    sheet: Sheet, x: float, y: float, height: float, cells: list[tuple[str, str, str, float]]
) -> None:
    for number, label, text, width in cells:
        sheet.draw_box(x, y, width, height)
        sheet.draw_text(x + 5, y + 11, f"{number}  {label}", Font(6.5, color="#4a5a53"))
        sheet.draw_text(x + 8, y + height - 10, text, Font(11, family="Courier"))
        x += width


def _draw_line_items(sheet: Sheet, x: float, y: float, invoice: Invoice) -> float:
    columns = [Column(290), Column(52, "right"), Column(90, "right"), Column(100, "right")]
    rows, blank_count = list_line_cells(invoice), 4
    height = 24 * (len(rows) + blank_count + 1)
    sheet.draw_text(x + 5, y + 11, "10", Font(6.5, color="#4a5a53"))
    titles = list_column_titles(invoice)
    sheet.draw_row(x + 14, y + 16, columns, ("", *titles[1:]), Font(8, bold=True), padding=18)
    sheet.draw_text(x + 22, y + 16, titles[0], Font(8, bold=True))
    for number in range(1, len(rows) + blank_count + 1):
        sheet.draw_line(x, x + 532, y + 24 * number, 0.4)
    for number, cells in enumerate(rows, start=1):
        sheet.draw_row(x, y + 24 * number + 16, columns, cells, Font(10, family="Courier"))
    for column in columns:
        sheet.draw_box(x, y, column.width, height)
        x += column.width
    return y + height


def _draw_checkbox(sheet: Sheet, x: float, y: float, label: str, *, ticked: bool) -> None:
    sheet.draw_box(x, y, 11, 11)
    if ticked:
        sheet.draw_text(x + 5.5, y + 9, "X", Font(10, bold=True), "center")
    sheet.draw_text(x + 18, y + 9, label, Font(10, bold=True))
