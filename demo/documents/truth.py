"""The right labels of a demo document, as tags for PUT /tag-sets/{id}/tags.

Values are normalised, whatever the page prints: dates as `YYYY-MM-DD`, money as a decimal string
with its ISO 4217 code, countries as ISO 3166-1 alpha-2, IBANs without spaces, an address on one
line with `, ` between its printed lines. Evidence is empty: where the words stand is known only
once the service has read the document.
"""

from datetime import date
from decimal import Decimal

from demo.documents.model import Contract, Invoice, Line

Tag = dict[str, object]


def invoice_truth(invoice: Invoice) -> list[Tag]:
    """Tags of the invoice schema; members that the invoice does not have are left out."""
    currency = invoice.currency
    values: dict[str, object] = {
        "invoice_number": invoice.number,
        "invoice_date": _day(invoice.issued),
        "due_date": _day(invoice.due) if invoice.due else None,
        "supplier_name": invoice.supplier.name,
        "supplier_address": ", ".join(invoice.supplier.address),
        "supplier_vat_id": invoice.supplier.tax_id,
        "customer_name": invoice.customer.name if invoice.customer else None,
        "iban": invoice.iban,
        "currency": currency,
        "subtotal": _money(invoice.subtotal, currency),
        "tax_amount": _money(invoice.tax, currency),
        "total": _money(invoice.total, currency),
        "paid": invoice.paid,
    }
    tags = [_tag(field, value) for field, value in values.items() if value is not None]
    for row, line in enumerate(invoice.lines):
        tags.extend(_line_tags(row, line, currency))
    return tags


def contract_truth(contract: Contract) -> list[Tag]:
    """Tags of the contract schema, one `parties` tag for each party.

    The signature region is left out, since a region is a box on a page and nothing else.
    """
    values: list[tuple[str, object]] = [("title", contract.title)]
    values.extend(("parties", party) for party in contract.parties)
    values.extend(
        [
            ("effective_date", _day(contract.effective)),
            ("end_date", _day(contract.end)),
            ("governing_law", contract.law),
            ("contract_type", contract.kind),
            ("termination_notice_days", contract.notice_days),
            ("confidentiality_clause", contract.clause),
            ("signed", contract.signed),
        ]
    )
    if contract.value:
        values.append(("value", _money(*contract.value)))
    return [_tag(field, value) for field, value in values]


def _line_tags(row: int, line: Line, currency: str) -> list[Tag]:
    whole = line.quantity == line.quantity.to_integral_value()
    cells: dict[str, object] = {
        "description": line.description,
        "quantity": int(line.quantity) if whole else float(line.quantity),
        "unit_price": _money(line.unit_price, currency),
        "amount": _money(line.amount, currency),
    }
    return [_tag(f"line_items.{column}", value, row) for column, value in cells.items()]


def _tag(field: str, value: object, row: int | None = None) -> Tag:
    place: Tag = {} if row is None else {"row": row}
    return {"field": field, "value": value, **place, "evidence": []}


def _day(value: date) -> str:
    return value.isoformat()


def _money(amount: Decimal, currency: str) -> dict[str, str]:
    return {"amount": str(amount), "currency": currency}
