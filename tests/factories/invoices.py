"""Insert invoices directly, without computing them from plans and meters."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from app.billing.invoices.models import Invoice, InvoiceKind, InvoiceStatus
from app.kit.ids import uuid7
from tests.factories.orgs import Org

PROFILE: dict[str, Any] = {
    "name": "Muster & Söhne <b>GmbH</b>",
    "address": {
        "lines": ["Mariahilfer Straße 1", "Stiege 2"],
        "postal_code": "1060",
        "city": "Wien",
        "country": "AT",
    },
    "tax_number": "ATU13585627",
    "email": "rechnung@muster.example",
    "currency": "EUR",
    "time_zone": "Europe/Vienna",
    "language": "de",
}
"""A billing profile, as clients send it."""
_PARTY = {
    "name": "Acme Ltd",
    "address_lines": ["1 High Street"],
    "postal_code": "D02 XY45",
    "city": "Dublin",
    "country": "IE",
    "tax_number": "IE6433435OA",
    "email": "pay@acme.example",
    "registration": None,
}
_LINE = {
    "description": "Plan team, 1 Jan 2001 to 31 Jan 2001",
    "quantity": "1",
    "unit": "MON",
    "unit_price": "49.00",
    "amount": "49.00",
}
_TAX = {
    "name": "VAT",
    "category": "AE",
    "rate": "0",
    "base": "49.00",
    "amount": "0.00",
    "reason": None,
}


def insert_invoices(org: Org) -> list[str]:
    """Insert an issued invoice, a draft, and a credit note for the issued invoice.

    Returns their ids in this order.
    """
    invoice = _build_invoice(month=1)
    draft = _build_invoice(month=2, number=None, status=InvoiceStatus.DRAFT.value, buyer=None)
    credit_note = _build_invoice(
        month=1, kind=InvoiceKind.CREDIT_NOTE.value, refers_to=invoice.id, due_at=None
    )
    with org.transaction() as session:
        session.add_all((invoice, draft))
        session.flush()
        session.add(credit_note)
    return [str(record.id) for record in (invoice, draft, credit_note)]


def _build_invoice(month: int, **overrides: Any) -> Invoice:
    start = datetime(2001, month, 1, tzinfo=UTC)
    values: dict[str, Any] = {
        "id": uuid7(),
        "kind": InvoiceKind.INVOICE.value,
        "number": f"SEED-{uuid7().hex}",
        "status": InvoiceStatus.ISSUED.value,
        "period_from": start,
        "period_to": datetime(2001, month + 1, 1, tzinfo=UTC),
        "currency": "EUR",
        "language": "en",
        "time_zone": "UTC",
        "seller": {**_PARTY, "payment": None},
        "buyer": dict(_PARTY),
        "lines": [dict(_LINE)],
        "subtotal": Decimal("49.00"),
        "tax": dict(_TAX),
        "total": Decimal("49.00"),
        "notes": [],
        "issued_at": start,
        "due_at": start + timedelta(days=14),
    }
    return Invoice(**{**values, **overrides})
