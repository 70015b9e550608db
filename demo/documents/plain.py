"""Render documents without pages: plain text in several encodings, and an email."""

import textwrap
from datetime import UTC, datetime, time
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP

from demo.documents.model import Contract, Invoice
from demo.documents.web import render_html_invoice
from demo.documents.wording import (
    format_iban,
    get_wording,
    list_column_titles,
    list_heading_details,
    list_line_cells,
    list_totals,
)

WIDTHS = (38, 8, 13, 15)


def render_text_invoice(invoice: Invoice, encoding: str) -> bytes:
    """Render an invoice as plain text with columns and CRLF line endings."""
    return format_invoice(invoice).replace("\n", "\r\n").encode(encoding)


def render_text_contract(contract: Contract, encoding: str) -> bytes:
    """Render a contract as plain text with one line per paragraph and CRLF line endings."""
    parts = []
    for block in contract.blocks:
        if block.kind == "title":
            parts.append(f"{block.text}\n{'=' * len(block.text)}")
        elif block.kind == "table":
            parts.append("\n".join("\t".join(row) for row in block.rows))
        elif block.kind != "break":
            parts.append(block.text)
    for signature in contract.signatures:
        signed = f"{signature.name or '_' * 30}  {signature.date or '_' * 12}"
        parts.append(f"{signed}\n{signature.role}, {signature.party}")
    return ("\n\n".join(parts) + "\n").replace("\n", "\r\n").encode(encoding)


def render_email_invoice(invoice: Invoice) -> bytes:
    """Render an invoice as an email (RFC 5322) with a plain-text body and an HTML body."""
    supplier, customer = invoice.supplier, invoice.customer
    if customer is None:
        raise ValueError("an invoice sent by email needs a customer")
    message = EmailMessage(policy=SMTP)
    message["From"] = Address(supplier.name, addr_spec=supplier.email)
    message["To"] = Address(customer.name, addr_spec=customer.email)
    title = f"{get_wording(invoice.locale)['invoice']} {invoice.number}"
    message["Subject"] = f"{title}, {supplier.name}"
    message["Date"] = datetime.combine(invoice.issue_date, time(9, 14), UTC)
    message["Message-ID"] = f"<{invoice.number}@{supplier.email.partition('@')[2]}>"
    greeting = f"Dear {customer.name},\n\nthank you for your order. Your invoice follows.\n\n"
    message.set_content(greeting + format_invoice(invoice))
    message.add_alternative(render_html_invoice(invoice, "utf-8").decode(), subtype="html")
    message.set_boundary("=_demo_invoice_alternative")
    return message.as_bytes()


def format_invoice(invoice: Invoice) -> str:
    """Format an invoice as text with fixed-width columns."""
    words, supplier, customer = get_wording(invoice.locale), invoice.supplier, invoice.customer
    title = words["invoice"]
    parts = [supplier.name, *supplier.address, supplier.email, "", title, "=" * len(title), ""]
    parts += [f"{label}: {text}" for label, text in list_heading_details(invoice)]
    if customer:
        parts += ["", f"{words['customer']}:", customer.name, *customer.address]
    ruler = "-" * sum(WIDTHS)
    parts += ["", _format_columns(list_column_titles(invoice)), ruler]
    parts += [_format_columns(cells) for cells in list_line_cells(invoice)]
    parts.append(ruler)
    parts += [f"{label:<40}{text:>{sum(WIDTHS) - 40}}" for label, text in list_totals(invoice)]
    if invoice.iban:
        parts += ["", f"{words['iban']}: {format_iban(invoice.iban)}"]
    if invoice.paid:
        parts += ["", f"*** {words['paid']} ***"]
    parts += ["", *textwrap.wrap(invoice.note, sum(WIDTHS))]
    return "\n".join(parts) + "\n"


def _format_columns(cells: tuple[str, str, str, str]) -> str:
    first, *numbers = cells
    return f"{first:<{WIDTHS[0]}}" + "".join(
        f"{cell:>{width}}" for cell, width in zip(numbers, WIDTHS[1:], strict=True)
    )
