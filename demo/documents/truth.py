"""Build the correct tags for demo documents, in the format for PUT /tag-sets/{id}/tags.

Values are normalized, regardless of how the document prints them: dates as `YYYY-MM-DD`, money as a
decimal string with an ISO 4217 code, countries as ISO 3166-1 alpha-2, IBANs without spaces, and
addresses on one line with `, ` between the printed lines. Evidence is empty, because the positions
of words are known only after the service has parsed the document.
"""

from datetime import date
from decimal import Decimal

from demo.documents.model import Contract, Invoice, Line

Tag = dict[str, object]


def build_invoice_tags(invoice: Invoice) -> list[Tag]:
    """Build the tags for an invoice, except for fields for which the invoice has no value."""
    currency = invoice.currency
    values: dict[str, object] = {
        "invoice_number": invoice.number,
        "invoice_date": _format_day(invoice.issue_date),
        "due_date": _format_day(invoice.due_date) if invoice.due_date else None,
        "supplier_name": invoice.supplier.name,
        "supplier_address": ", ".join(invoice.supplier.address),
        "supplier_vat_id": invoice.supplier.tax_id,
        "customer_name": invoice.customer.name if invoice.customer else None,
        "iban": invoice.iban,
        "currency": currency,
        "subtotal": _format_money(invoice.subtotal, currency),
        "tax_amount": _format_money(invoice.tax, currency),
        "total": _format_money(invoice.total, currency),
        "paid": invoice.paid,
    }
    tags = [_build_tag(field, value) for field, value in values.items() if value is not None]
    for row, line in enumerate(invoice.lines):
        tags.extend(_build_line_tags(row, line, currency))
    return tags


def build_contract_tags(contract: Contract) -> list[Tag]:
    """Build the tags for a contract, with one `parties` tag for each party.

    The signature region is omitted, because its value is a box on a page, and the position
    of the box is not known.
    """
    values: list[tuple[str, object]] = [("title", contract.title)]
    values.extend(("parties", party) for party in contract.parties)
    values.extend(
        [
            ("effective_date", _format_day(contract.effective_date)),
            ("end_date", _format_day(contract.end_date)),
            ("governing_law", contract.law),
            ("contract_type", contract.contract_type),
            ("termination_notice_days", contract.notice_days),
            ("confidentiality_clause", contract.clause),
            ("signed", contract.signed),
        ]
    )
    if contract.value:
        values.append(("value", _format_money(*contract.value)))
    return [_build_tag(field, value) for field, value in values]


def _build_line_tags(row: int, line: Line, currency: str) -> list[Tag]:
    is_whole = line.quantity == line.quantity.to_integral_value()
    cells: dict[str, object] = {
        "description": line.description,
        "quantity": int(line.quantity) if is_whole else float(line.quantity),
        "unit_price": _format_money(line.unit_price, currency),
        "amount": _format_money(line.amount, currency),
    }
    return [_build_tag(f"line_items.{column}", value, row) for column, value in cells.items()]


def _build_tag(field: str, value: object, row: int | None = None) -> Tag:
    row_property: Tag = {} if row is None else {"row": row}
    return {"field": field, "value": value, **row_property, "evidence": []}


def _format_day(value: date) -> str:
    return value.isoformat()


def _format_money(amount: Decimal, currency: str) -> dict[str, str]:
    return {"amount": str(amount), "currency": currency}
