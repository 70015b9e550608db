"""Check that an invoice or credit note is complete, consistent and within the rendering limits."""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from stdnum import bic, iban

from app.engines.invoices.charges import sum_amounts
from app.engines.invoices.currencies import EXACT, round_amount
from app.engines.invoices.model import (
    MAX_ADDRESS_LINES,
    MAX_AMOUNT,
    MAX_DECIMALS,
    MAX_DESCRIPTION_LENGTH,
    MAX_LINES,
    MAX_NAME_LENGTH,
    MAX_NOTE_LENGTH,
    MAX_NOTES,
    MAX_NUMBER_LENGTH,
    MAX_TAXES,
    Document,
    InvoiceError,
    Line,
    Party,
    Payment,
    Tax,
    TaxCategory,
)
from app.engines.invoices.taxes import check_rate, compute_tax
from app.engines.invoices.texts import load_translations

_UNIT_CODE = re.compile(r"[A-Z0-9]{1,3}")
_COUNTRY_CODE = re.compile(r"[A-Z]{2}")
_PERCENT = 100
# The schematron of EN 16931 (rules BR-S-09 and BR-CO-17 of CEN/TC 434, as in Factur-X 1.09) accepts
# taxes that differ from the product by less than one unit of the currency.
_TAX_TOLERANCE = 1


def check_document(document: Document) -> None:
    """Raise `InvoiceError` for the first value that is missing, invalid or inconsistent."""
    load_translations(document.language)
    if document.number is not None:
        _check_text(document.number, "number", MAX_NUMBER_LENGTH)
    if document.corrected_invoice_number is not None:
        _check_text(
            document.corrected_invoice_number, "corrected_invoice_number", MAX_NUMBER_LENGTH
        )
    _check_dates(document)
    _check_party(document.seller, "seller")
    _check_party(document.buyer, "buyer")
    _check_notes(document)
    if document.payment is not None:
        _check_payment(document.payment)
    _check_count(document.lines, "lines", MAX_LINES)
    _check_count(document.taxes, "taxes", MAX_TAXES)
    for position, line in enumerate(document.lines):
        _check_line(line, f"lines.{position}", document)
    _check_taxes(document)
    _check_sum(document.total, "total", _check_and_list_summands(document), document.currency)


def _check_count(items: tuple[object, ...], field: str, max_count: int) -> None:
    if not 1 <= len(items) <= max_count:
        raise InvoiceError(field, f"must have between 1 and {max_count} elements")


def _check_text(text: str, field: str, max_length: int) -> None:
    if not text.strip() or len(text) > max_length:
        raise InvoiceError(field, f"must have between 1 and {max_length} characters")


def _check_dates(document: Document) -> None:
    try:
        ZoneInfo(document.time_zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvoiceError("time_zone", "must be an IANA time zone such as UTC") from None
    for field in ("issued_at", "due_at", "period_from", "period_to"):
        timestamp = getattr(document, field)
        if timestamp is not None and timestamp.tzinfo is None:
            raise InvoiceError(field, "must have a time zone")
    if document.period_from >= document.period_to:
        raise InvoiceError("period_to", "must be after the start of the period")


def _check_party(party: Party, field: str) -> None:
    _check_text(party.name, f"{field}.name", MAX_NAME_LENGTH)
    if not _COUNTRY_CODE.fullmatch(party.country):
        raise InvoiceError(f"{field}.country", "must be an ISO 3166-1 country code such as DE")
    if len(party.address_lines) > MAX_ADDRESS_LINES:
        raise InvoiceError(f"{field}.address_lines", f"must have at most {MAX_ADDRESS_LINES} lines")
    optional_texts = {
        **{f"address_lines.{n}": line for n, line in enumerate(party.address_lines)},
        "postal_code": party.postal_code,
        "city": party.city,
        "tax_number": party.tax_number,
        "email": party.email,
        "registration": party.registration,
    }
    for name, text in optional_texts.items():
        if text and len(text) > MAX_NAME_LENGTH:
            raise InvoiceError(f"{field}.{name}", f"must have at most {MAX_NAME_LENGTH} characters")


def _check_notes(document: Document) -> None:
    if len(document.notes) > MAX_NOTES:
        raise InvoiceError("notes", f"must have at most {MAX_NOTES} notes")
    for position, note in enumerate(document.notes):
        _check_text(note, f"notes.{position}", MAX_NOTE_LENGTH)


@lru_cache(maxsize=16)  # all documents of a seller have the same payment details
def _check_payment(payment: Payment) -> None:
    if not iban.is_valid(payment.iban):
        raise InvoiceError("payment.iban", "is not a valid IBAN")
    if payment.bic is not None and not bic.is_valid(payment.bic):
        raise InvoiceError("payment.bic", "is not a valid BIC")
    if payment.account_holder is not None:
        _check_text(payment.account_holder, "payment.account_holder", MAX_NAME_LENGTH)


def _check_line(line: Line, field: str, document: Document) -> None:
    _check_text(line.description, f"{field}.description", MAX_DESCRIPTION_LENGTH)
    if not _UNIT_CODE.fullmatch(line.unit):
        raise InvoiceError(f"{field}.unit", "must be a unit code from UN/ECE Recommendation 20")
    for name in ("quantity", "unit_price", "amount"):
        _check_number(getattr(line, name), f"{field}.{name}")
    if line.unit_price < 0:
        raise InvoiceError(f"{field}.unit_price", "must not be negative")
    if not 0 <= line.tax_index < len(document.taxes):
        raise InvoiceError(f"{field}.tax_index", "must be the index of one of the document's taxes")
    exact_amount = EXACT.multiply(line.quantity, line.unit_price)
    if round_amount(exact_amount, document.currency) != line.amount:
        raise InvoiceError(f"{field}.amount", "must be quantity times unit price, rounded")


def _check_number(number: Decimal, field: str) -> None:
    if not number.is_finite() or abs(number) >= MAX_AMOUNT:
        raise InvoiceError(field, f"must have an absolute value below {MAX_AMOUNT:,}")
    exponent = number.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -MAX_DECIMALS:
        raise InvoiceError(field, f"must have at most {MAX_DECIMALS} decimal places")


def _check_taxes(document: Document) -> None:
    category_rates = {(tax.category, tax.rate) for tax in document.taxes}
    if len(category_rates) < len(document.taxes):
        raise InvoiceError("taxes", "must each have a different category or rate")
    categories = {tax.category for tax in document.taxes}
    if TaxCategory.OUTSIDE in categories and len(categories) > 1:
        raise InvoiceError("taxes", "must not combine category O with other categories")
    for position, tax in enumerate(document.taxes):
        _check_tax(tax, position, document)
    if not document.seller.tax_number:
        raise InvoiceError("seller.tax_number", "is required")
    if TaxCategory.REVERSE_CHARGE in categories and not document.buyer.tax_number:
        raise InvoiceError("buyer.tax_number", "is required for reverse charge")


def _check_tax(tax: Tax, position: int, document: Document) -> None:
    field = f"taxes.{position}"
    _check_text(tax.name, f"{field}.name", MAX_NAME_LENGTH)
    if tax.reason is not None:
        _check_text(tax.reason, f"{field}.reason", MAX_NOTE_LENGTH)
    check_rate(tax.category, tax.rate, f"{field}.rate")
    amounts = [line.amount for line in document.lines if line.tax_index == position]
    if not amounts:
        raise InvoiceError(field, "must apply to at least one line")
    _check_sum(tax.base, f"{field}.base", amounts, document.currency)
    _check_number(tax.amount, f"{field}.amount")
    if not _is_correct_tax(tax, document):
        raise InvoiceError(f"{field}.amount", "must be the base times the rate, rounded")


def _is_correct_tax(tax: Tax, document: Document) -> bool:
    """Return whether the amount of a tax is the rounded product of its base and its rate.

    Partial credit notes together reverse the tax of an invoice exactly, so the amount of a credit
    note may differ from the product, within the tolerance of EN 16931.
    """
    if document.kind != "credit_note":
        return compute_tax(tax.base, tax.rate, document.currency) == tax.amount
    exact_amount = Fraction(tax.base) * Fraction(tax.rate) / _PERCENT
    is_rounded = round_amount(tax.amount, document.currency) == tax.amount
    return is_rounded and abs(Fraction(tax.amount) - exact_amount) < _TAX_TOLERANCE


def _check_and_list_summands(document: Document) -> Iterator[Decimal]:
    """Check the subtotal, and yield the amounts that add up to the total."""
    amounts = (line.amount for line in document.lines)
    _check_sum(document.subtotal, "subtotal", amounts, document.currency)
    yield document.subtotal
    yield from (tax.amount for tax in document.taxes)


def _check_sum(total: Decimal, field: str, amounts: Iterable[Decimal], currency: str) -> None:
    _check_number(total, field)
    expected_total = sum_amounts(amounts, currency)
    if total != expected_total:
        raise InvoiceError(field, f"must be the sum of the amounts, which is {expected_total}")
