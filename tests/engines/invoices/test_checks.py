"""Documents that are incomplete, do not add up or are too large are refused with their field."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from app.engines.invoices.checks import check_document
from app.engines.invoices.model import MAX_LINES, Document, InvoiceError
from app.engines.invoices.service import render_pdf, render_xml
from tests.engines.invoices.rules import find_violations
from tests.engines.invoices.samples import (
    BUYER,
    PAYMENT,
    RULES,
    SELLER,
    STANDARD,
    build_document,
    build_line,
)

GOOD = build_document([build_line(), build_line("Documents", "12.5", "39.9", unit="MIL")])
NAIVE = datetime(2026, 12, 1)  # noqa: DTZ001 - what the check refuses
Change = Callable[[Document], Document]


def set_member(**members: object) -> Change:
    return lambda document: replace(document, **members)  # type: ignore[arg-type]


def set_line(**members: object) -> Change:
    def change(document: Document) -> Document:
        line = replace(document.lines[1], **members)  # type: ignore[arg-type]
        return replace(document, lines=(document.lines[0], line))

    return change


def set_tax(**members: object) -> Change:
    return lambda document: replace(
        document,
        taxes=(replace(document.taxes[0], **members),),  # type: ignore[arg-type]
    )


WRONG: dict[str, Change] = {
    "number": set_member(number="  "),
    "corrected_invoice_number": set_member(corrected_invoice_number="9" * 61),
    "language": set_member(language="it"),
    "currency": set_member(currency="XAU"),
    "time_zone": set_member(time_zone="Europe/Atlantis"),
    "issued_at": set_member(issued_at=NAIVE),
    "due_at": set_member(due_at=NAIVE),
    "period_to": set_member(period_to=GOOD.period_from),
    "seller.name": set_member(seller=replace(SELLER, name="")),
    "seller.tax_number": set_member(seller=replace(SELLER, tax_number=None)),
    "buyer.name": set_member(buyer=replace(BUYER, name="x" * 301)),
    "buyer.country": set_member(buyer=replace(BUYER, country="Ireland")),
    "buyer.address_lines": set_member(buyer=replace(BUYER, address_lines=("a",) * 4)),
    "buyer.address_lines.1": set_member(buyer=replace(BUYER, address_lines=("a", "b" * 301))),
    "buyer.city": set_member(buyer=replace(BUYER, city="x" * 301)),
    "notes": set_member(notes=("n",) * 21),
    "notes.1": set_member(notes=("n", "n" * 2_001)),
    "payment.iban": set_member(payment=replace(PAYMENT, iban="DE89370400440532013001")),
    "payment.bic": set_member(payment=replace(PAYMENT, bic="COBA")),
    "lines": set_member(lines=()),
    "taxes": set_member(taxes=()),
    "lines.1.description": set_line(description="x" * 501),
    "lines.1.unit": set_line(unit="pieces"),
    "lines.1.tax_index": set_line(tax_index=1),
    "lines.1.quantity": set_line(quantity=Decimal("NaN")),
    "lines.1.unit_price": set_line(unit_price=Decimal("-39.9"), quantity=Decimal("-12.5")),
    "lines.1.amount": set_line(amount=Decimal("498.76")),
    "taxes.0.base": set_tax(base=Decimal("547.76")),
    "taxes.0.amount": set_tax(amount=Decimal("104.08")),
    "taxes.0.rate": set_tax(rate=Decimal(0)),
    "taxes.0.name": set_tax(name=""),
    "subtotal": set_member(subtotal=GOOD.subtotal + 1),
    "total": set_member(total=GOOD.total - Decimal("0.01")),
}


def test_a_complete_document_passes() -> None:
    check_document(GOOD)


@pytest.mark.parametrize("field", WRONG)
def test_the_error_names_the_field(field: str) -> None:
    with pytest.raises(InvoiceError) as raised:
        check_document(WRONG[field](GOOD))
    assert raised.value.field == field


@pytest.mark.parametrize("render", [render_xml, lambda document: render_pdf(document, None)])
def test_nothing_is_rendered_that_does_not_add_up(render: Callable[[Document], bytes]) -> None:
    with pytest.raises(InvoiceError, match=rf"total: must be the sum .* which is {GOOD.total}$"):
        render(replace(GOOD, total=GOOD.total + 1))


def test_the_number_of_lines_is_limited() -> None:
    check_document(build_document([build_line()] * MAX_LINES))
    with pytest.raises(InvoiceError, match="between 1 and 2000 elements"):
        check_document(build_document([build_line()] * (MAX_LINES + 1)))


@pytest.mark.parametrize("text", ["1e18", "1e-13"])
def test_numbers_are_limited(text: str) -> None:
    line = replace(build_line(), quantity=Decimal(text), amount=Decimal(0))
    with pytest.raises(InvoiceError, match=r"lines\.0\.quantity"):
        check_document(build_document([line]))


@pytest.mark.parametrize(
    ("amount", "is_valid"),
    [("104.06", True), ("105.05", True), ("105.08", False), ("103.07", False)],
)
def test_the_tax_of_a_credit_note_has_the_tolerance_of_the_norm(
    amount: str, *, is_valid: bool
) -> None:
    note = replace(GOOD, kind="credit_note", corrected_invoice_number="2026-000041", due_at=None)
    tax = replace(note.taxes[0], amount=Decimal(amount))
    changed = replace(note, taxes=(tax,), total=note.subtotal + tax.amount)
    if is_valid:
        assert find_violations(render_xml(changed) or b"") == []
        return
    with pytest.raises(InvoiceError, match=r"taxes\.0\.amount"):
        check_document(changed)


def test_reverse_charge_needs_the_number_of_the_buyer() -> None:
    document = build_document(
        rules=[RULES["reverse charge"]], buyer=replace(BUYER, tax_number=None)
    )
    with pytest.raises(InvoiceError, match=r"buyer\.tax_number"):
        check_document(document)


def test_taxes_differ_and_each_has_a_line() -> None:
    lines = [build_line(), build_line(tax=1)]
    with pytest.raises(InvoiceError, match="differ"):
        check_document(build_document(lines, rules=[STANDARD, STANDARD]))
    with pytest.raises(InvoiceError, match=r"taxes\.1: must apply to at least one line"):
        check_document(build_document(lines[:1], rules=[STANDARD, RULES["zero"]]))
    with pytest.raises(InvoiceError, match="combine category O"):
        check_document(build_document(lines, rules=[STANDARD, RULES["outside"]]))


def test_a_draft_has_no_xml() -> None:
    draft = build_document(number=None)
    check_document(draft)
    with pytest.raises(InvoiceError, match="number"):
        render_xml(draft)
    with pytest.raises(InvoiceError, match="number"):
        render_pdf(draft, b"<x/>")


def test_a_document_of_another_time_is_the_same_day() -> None:
    late = datetime(2026, 12, 1, 0, 30, tzinfo=UTC)
    check_document(replace(GOOD, issued_at=late, time_zone="America/New_York"))
