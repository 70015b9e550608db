"""Mark issued invoices as paid, void them, or credit them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from app.billing.invoices import emitted_events, queries
from app.billing.invoices.models import Invoice, InvoiceKind, InvoiceStatus
from app.billing.invoices.queries import CreditedAmounts
from app.billing.invoices.service import documents, issuing
from app.billing.invoices.service.dumping import dump_line, dump_seller, dump_tax, load_tax
from app.billing.invoices.service.reading import render
from app.billing.seller.configuration import (
    BillingConfiguration,
    BillingFileError,
    require_configuration,
)
from app.engines.invoices.charges import compute_line
from app.engines.invoices.currencies import get_minor_digits
from app.engines.invoices.taxes import compute_tax
from app.kit import db, errors, tenancy

_TENANCY_REASON = "the operator identifies an invoice by its number"
_MIN_UTC_OFFSET, _MAX_UTC_OFFSET = timedelta(hours=-12), timedelta(hours=14)


def mark_paid(number: str, *, paid_on: date | None = None) -> dict[str, Any]:
    """Mark an issued invoice or credit note as paid, and return it. Emits `invoice.paid`.

    The payment time is the start of the day `paid_on` in UTC, but not before the time of issue and
    not in the future; by default, it is now. Raises 404 if no invoice has this number, 400 if
    `paid_on` is before the day of issue or after today in every time zone, and 409 if the status of
    the invoice is not `issued`.
    """
    with _lock_invoice(number) as invoice:
        if invoice.status != InvoiceStatus.ISSUED:
            message = f"The invoice is {invoice.status}; only issued invoices can be paid."
            raise errors.conflict(message, state=invoice.status)
        assert invoice.issued_at is not None
        issued_at, now = invoice.issued_at, max(db.utc_now(), invoice.issued_at)
        payment_time = now
        if paid_on is not None:
            # The operator's time zone is unknown, so any time zone may have had this day.
            first_day, last_day = issued_at + _MIN_UTC_OFFSET, now + _MAX_UTC_OFFSET
            if not first_day.date() <= paid_on <= last_day.date():
                raise errors.invalid("Must be between the day of issue and today.", "paid_on")
            day_start = datetime.combine(paid_on, time.min, UTC)
            payment_time = min(max(day_start, issued_at), now)
        issuing.change_status(invoice, InvoiceStatus.PAID)
        invoice.paid_at = payment_time
        issuing.emit(emitted_events.PAID, invoice)
        return render(invoice)


def void(number: str, *, reason: str) -> dict[str, Any]:
    """Void an invoice with a credit note for all its lines, and return the credit note.

    `reason` is printed on the credit note. Emits `invoice.voided` and `invoices.issued`. Raises 404
    if no invoice has this number. Raises 409 if the number belongs to a credit note, if the invoice
    is void or partly credited, if the credit note cannot be rendered, or if the billing file is
    missing or invalid.
    """
    configuration = _get_configuration()
    with _lock_invoice(number) as invoice:
        _check_creditable(invoice)
        if queries.sum_credited_amounts(invoice.id).subtotal:
            raise errors.conflict(
                "A part of the invoice has been credited. Credit the remaining amount instead."
            )
        credit_note = _create_credit_note(
            invoice,
            configuration,
            lines=invoice.lines,
            subtotal=invoice.subtotal,
            tax=invoice.tax,
            total=invoice.total,
            notes=[reason],
        )
        _issue_credit_note(credit_note, invoice, configuration, is_fully_credited=True)
        return render(credit_note)


def credit(number: str, *, amount: Decimal, reason: str) -> dict[str, Any]:
    """Credit a net amount of an invoice, and return the credit note, whose line shows `reason`.

    The tax rate of the invoice applies. The tax is rounded so that the taxes of credit notes for
    the whole invoice add up to the invoice's tax. Emits `invoices.issued`. If the whole invoice is
    now credited, it becomes void, and `invoice.voided` is emitted. Raises 404 if no invoice has
    this number, and 400 if the amount is not positive or has too many decimal places. Raises 409
    if the number belongs to a credit note, if the invoice is void, if less than the amount remains
    to be credited, if the credit note cannot be rendered, or if the billing file is missing or
    invalid.
    """
    configuration = _get_configuration()
    with _lock_invoice(number) as invoice:
        _check_creditable(invoice)
        _check_amount(amount, invoice.currency)
        earlier_credits = queries.sum_credited_amounts(invoice.id)
        remaining_amount = invoice.subtotal - earlier_credits.subtotal
        if amount > remaining_amount:
            raise errors.conflict(
                f"Only {remaining_amount:f} {invoice.currency} before tax can still be credited.",
                remaining=f"{remaining_amount:f}",
            )
        content = _build_content(invoice, amount, earlier_credits, reason)
        credit_note = _create_credit_note(invoice, configuration, **content)
        _issue_credit_note(
            credit_note, invoice, configuration, is_fully_credited=amount == remaining_amount
        )
        return render(credit_note)


@contextmanager
def _lock_invoice(number: str) -> Iterator[Invoice]:
    """Lock and yield the invoice with this number, in the scope of its organization.

    Raises 404 if no invoice has this number. Flushes the changes at the end of the block.
    """
    with tenancy.across_organizations(reason=_TENANCY_REASON):
        unlocked_invoice = queries.find_by_number(number)
    if unlocked_invoice is None:
        raise errors.ApiError("not_found", "No invoice has this number.", field="number")
    with tenancy.organization(unlocked_invoice.organization_id):
        invoice = queries.lock(unlocked_invoice.id)
        assert invoice is not None, "issued invoices are never deleted"
        yield invoice
        db.session().flush()


def _get_configuration() -> BillingConfiguration:
    try:
        return require_configuration()
    except BillingFileError as error:
        raise errors.conflict(f"Credit notes cannot be issued: BILLING_FILE {error}.") from None


def _check_creditable(invoice: Invoice) -> None:
    if invoice.kind == InvoiceKind.CREDIT_NOTE:
        raise errors.conflict("This is a credit note; it cannot be voided or credited.")
    if invoice.status not in (InvoiceStatus.ISSUED, InvoiceStatus.PAID):
        message = f"The invoice is {invoice.status}; it cannot be voided or credited."
        raise errors.conflict(message, state=invoice.status)


def _check_amount(amount: Decimal, currency: str) -> None:
    digits = get_minor_digits(currency)
    is_in_minor_units = amount.is_finite() and (Fraction(amount) * 10**digits).denominator == 1
    if not is_in_minor_units or amount <= 0:
        message = f"Must be a positive amount with at most {digits} decimal places."
        raise errors.invalid(message, "amount")


def _build_content(
    invoice: Invoice, amount: Decimal, earlier_credits: CreditedAmounts, reason: str
) -> dict[str, Any]:
    """Build the content of a credit note for a net amount.

    The tax is the rounded tax on all credits, including this one, minus the tax of the earlier
    credit notes. If the tax of each credit note were rounded alone, the sum could differ from the
    invoice's tax.
    """
    line = compute_line(
        description=reason, quantity=Decimal(1), unit_price=amount, currency=invoice.currency
    )
    tax = load_tax(invoice.tax)
    credited_subtotal = earlier_credits.subtotal + line.amount
    tax_sum = compute_tax(credited_subtotal, tax.rate, invoice.currency)
    tax = replace(tax, base=line.amount, amount=tax_sum - earlier_credits.tax)
    return {
        "lines": [dump_line(line)],
        "subtotal": line.amount,
        "tax": dump_tax(tax),
        "total": line.amount + tax.amount,
        "notes": [],
    }


def _create_credit_note(
    invoice: Invoice, configuration: BillingConfiguration, **content: object
) -> Invoice:
    """Create a credit note with the parties, period and currency of the invoice.

    The bank account is taken from the current billing file, so that an invoice whose bank account
    cannot be rendered can still be credited.
    """
    names = ("period_from", "period_to", "currency", "language", "time_zone", "buyer")
    return Invoice(
        organization_id=invoice.organization_id,
        kind=InvoiceKind.CREDIT_NOTE.value,
        status=InvoiceStatus.DRAFT.value,
        refers_to=invoice.id,
        seller={**invoice.seller, "payment": dump_seller(configuration)["payment"]},
        **{name: getattr(invoice, name) for name in names},
        **content,
    )


def _issue_credit_note(
    credit_note: Invoice,
    invoice: Invoice,
    configuration: BillingConfiguration,
    *,
    is_fully_credited: bool,
) -> None:
    """Issue a credit note; if `is_fully_credited`, void the invoice and emit `invoice.voided`.

    Raises 409 if the credit note cannot be rendered: an issued credit note cannot be changed, so it
    would never get a PDF.
    """
    problem = documents.find_problem(credit_note, corrected_invoice_number=invoice.number)
    if problem is not None:
        raise errors.conflict(f"The credit note cannot be rendered: {problem}.")
    if is_fully_credited:
        issuing.change_status(invoice, InvoiceStatus.VOID)
        issuing.emit(emitted_events.VOIDED, invoice)
    with tenancy.across_organizations(reason="invoices are issued across organizations"):
        issuing.issue([credit_note], configuration)
        db.session().flush()
