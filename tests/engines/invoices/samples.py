"""Documents for the tests of this folder."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from app.engines.invoices.charges import compute_line
from app.engines.invoices.model import Document, Line, Party, Payment, TaxCategory
from app.engines.invoices.taxes import TaxRule, compute_totals

SELLER = Party(
    "Beispiel Software GmbH",
    ("Musterstraße 12",),
    "10115",
    "Berlin",
    "DE",
    "DE136695976",
    "billing@beispiel.example",
    "HRB 12345 B, Amtsgericht Berlin",
)
BUYER = Party("Acme Ltd", ("1 High Street", "Floor 3"), "D02 XY45", "Dublin", "IE", "IE6433435OA")
PAYMENT = Payment("DE89370400440532013000", "COBADEFFXXX", "Beispiel Software GmbH")
STANDARD = TaxRule("VAT", TaxCategory.STANDARD, Decimal(19))
RULES = {
    "standard": STANDARD,
    "reduced": TaxRule("VAT", TaxCategory.STANDARD, Decimal("5.5")),
    "zero": TaxRule("VAT", TaxCategory.ZERO),
    "exempt": TaxRule("VAT", TaxCategory.EXEMPT, reason="Small business, § 19 UStG"),
    "reverse charge": TaxRule("VAT", TaxCategory.REVERSE_CHARGE),
    "export": TaxRule("VAT", TaxCategory.EXPORT),
    "outside": TaxRule("VAT", TaxCategory.OUTSIDE),
}


def build_line(
    description: str = "Plan Team, November 2026",
    quantity: str = "1",
    price: str = "49",
    currency: str = "EUR",
    unit: str = "MON",
    tax: int = 0,
) -> Line:
    line = compute_line(
        description=description,
        quantity=Decimal(quantity),
        unit_price=Decimal(price),
        currency=currency,
        unit_code=unit,
    )
    return replace(line, tax_index=tax)


def build_document(
    lines: Sequence[Line] = (),
    *,
    rules: Sequence[TaxRule] = (STANDARD,),
    currency: str = "EUR",
    **members: Any,
) -> Document:
    lines = tuple(lines) or (build_line(currency=currency),)
    totals = compute_totals(lines, currency, rules)
    values: dict[str, Any] = {
        "number": "2026-000042",
        "kind": "invoice",
        "issued_at": datetime(2026, 12, 1, 3, 0, tzinfo=UTC),
        "due_at": datetime(2026, 12, 15, 3, 0, tzinfo=UTC),
        "period_from": datetime(2026, 11, 1, tzinfo=UTC),
        "period_to": datetime(2026, 12, 1, tzinfo=UTC),
        "seller": SELLER,
        "buyer": BUYER,
        "payment": PAYMENT,
    }
    return Document(
        currency=currency,
        lines=lines,
        subtotal=totals.subtotal,
        taxes=totals.taxes,
        total=totals.total,
        **(values | members),
    )
