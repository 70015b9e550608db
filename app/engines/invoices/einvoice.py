"""Write invoices and credit notes as EN 16931 XML (Cross Industry Invoice).

Factur-X and ZUGFeRD use this XML. The library factur-x builds it from a mapping with the terms of
EN 16931 as keys.
"""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from facturx import generate_cii_xml

from app.engines.invoices.charges import strip_trailing_zeros
from app.engines.invoices.currencies import round_amount
from app.engines.invoices.model import Document, InvoiceError, Line, Party, Tax, TaxCategory
from app.engines.invoices.plain_text import clean_text
from app.engines.invoices.tax_numbers import is_vat_number
from app.engines.invoices.texts import describe_payment, describe_reason, load_translations

FACTUR_X_LEVEL = "en16931"
TYPE_CODES = {"invoice": "380", "credit_note": "381"}
_SEPA_TRANSFER_CODE, _TRANSFER_CODE = "58", "30"
_REASON_CODES = {
    TaxCategory.REVERSE_CHARGE: "VATEX-EU-AE",
    TaxCategory.EXPORT: "VATEX-EU-G",
    TaxCategory.OUTSIDE: "VATEX-EU-O",
}
_CATEGORIES_WITHOUT_REASON = (TaxCategory.STANDARD, TaxCategory.ZERO)


def build_xml(document: Document) -> bytes:
    """Build the XML of a valid document. Raises `InvoiceError` if the document is a draft."""
    if document.number is None:
        raise InvoiceError("number", "is required for a document with XML")
    is_outside = any(tax.category is TaxCategory.OUTSIDE for tax in document.taxes)
    xml: bytes = generate_cii_xml(
        {
            "BT-1": clean_text(document.number),
            "BT-2": _convert_to_day(document.issued_at, document),
            "BT-3": TYPE_CODES[document.kind],
            "BT-5": document.currency,
            "BT-20": describe_payment(document),
            "BT-72": _find_last_day(document),
            "BT-73": _convert_to_day(document.period_from, document),
            "BT-74": _find_last_day(document),
            "BG-1": [{"BT-22": clean_text(note)} for note in document.notes],
            "BG-4": _build_party_terms(document.seller, is_seller=True, is_outside=is_outside),
            "BG-7": _build_party_terms(document.buyer, is_seller=False, is_outside=is_outside),
            "BG-23": [_build_tax_terms(tax, document) for tax in document.taxes],
            "BG-25": [
                _build_line_terms(line, n, document) for n, line in enumerate(document.lines)
            ],
            **_build_due_date_terms(document),
            **_build_reference_terms(document),
            **_build_account_terms(document),
            **_build_total_terms(document),
        },
        level=FACTUR_X_LEVEL,
        check_xsd=False,
        check_schematron=None,
    )
    return xml


def _convert_to_day(timestamp: datetime, document: Document) -> date:
    return timestamp.astimezone(ZoneInfo(document.time_zone)).date()


def _find_last_day(document: Document) -> date:
    last_instant = document.period_to - timedelta(microseconds=1)
    return _convert_to_day(max(document.period_from, last_instant), document)


def _build_due_date_terms(document: Document) -> dict[str, date]:
    if document.due_at is None or document.kind == "credit_note":
        return {}
    return {"BT-9": _convert_to_day(document.due_at, document)}


def _build_reference_terms(document: Document) -> dict[str, list[dict[str, str]]]:
    if document.corrected_invoice_number is None:
        return {}
    return {"BG-3": [{"BT-25": clean_text(document.corrected_invoice_number)}]}


def _build_account_terms(document: Document) -> dict[str, str]:
    payment = document.payment
    if payment is None or document.kind == "credit_note":
        return {}
    account = {
        "BT-81": _SEPA_TRANSFER_CODE if document.currency == "EUR" else _TRANSFER_CODE,
        "BT-83": clean_text(document.number or ""),
        "BT-84": payment.iban.replace(" ", "").upper(),
    }
    if payment.account_holder:
        account["BT-85"] = clean_text(payment.account_holder)
    if payment.bic:
        account["BT-86"] = payment.bic
    return account


def _build_party_terms(party: Party, *, is_seller: bool, is_outside: bool) -> dict[str, Any]:
    """Build the terms for a party, in the structure that factur-x expects.

    Only VAT numbers have a country prefix (BR-CO-09), and category O (`is_outside`) allows no VAT
    numbers (BR-O-02). Other tax numbers are written as identifiers of the party.
    """
    rows = [clean_text(line) for line in party.address_lines if line.strip()]
    terms: dict[str, Any] = {
        "name": clean_text(party.name),
        **{f"addr_l{number}": row for number, row in enumerate(rows, start=1)},
        "country_code": party.country,
    }
    optional_texts = {"postcode": party.postal_code, "city": party.city}
    optional_texts["legal_identifier"] = party.registration or ""
    terms |= {name: clean_text(text) for name, text in optional_texts.items() if text.strip()}
    if party.email:
        terms["einvoicing_addr"] = clean_text(party.email)
        terms["einvoicing_addr_schemeid"] = "EM"
    if party.tax_number:
        number = clean_text(party.tax_number)
        is_vat = is_vat_number(number, party.country) and not is_outside
        if is_vat:
            terms["vat_identifier"] = number
        else:
            terms["identifiers"] = {None: number}
            if is_seller:
                terms["tax_identifier"] = number
    return terms


def _build_tax_terms(tax: Tax, document: Document) -> dict[str, Any]:
    terms = {
        "BT-116": _format_amount(tax.base, document),
        "BT-117": _format_amount(tax.amount, document),
        "BT-118": tax.category.value,
        **_build_rate_terms(tax, "BT-119"),
    }
    if tax.category not in _CATEGORIES_WITHOUT_REASON:
        terms["BT-120"] = describe_reason(tax, load_translations(document.language)) or ""
        if tax.category in _REASON_CODES:
            terms["BT-121"] = _REASON_CODES[tax.category]
    return terms


def _build_rate_terms(tax: Tax, term: str) -> dict[str, str]:
    """Build the entry for a tax rate with the key `term`; category O has no rate (BR-O-05)."""
    if tax.category is TaxCategory.OUTSIDE:
        return {}
    return {term: f"{strip_trailing_zeros(tax.rate):f}"}


def _build_line_terms(line: Line, position: int, document: Document) -> dict[str, Any]:
    tax = document.taxes[line.tax_index]
    return {
        "BT-126": str(position + 1),
        "BT-153": clean_text(line.description),
        "BT-129": f"{strip_trailing_zeros(line.quantity):f}",
        "BT-130": line.unit,
        "BT-146": f"{strip_trailing_zeros(line.unit_price):f}",
        "BT-131": _format_amount(line.amount, document),
        "BT-151": tax.category.value,
        **_build_rate_terms(tax, "BT-152"),
    }


def _build_total_terms(document: Document) -> dict[str, str]:
    taxes = sum((tax.amount for tax in document.taxes), Decimal(0))
    subtotal, total = (_format_amount(x, document) for x in (document.subtotal, document.total))
    return {
        "BT-106": subtotal,
        "BT-109": subtotal,
        "BT-110": _format_amount(taxes, document),
        "BT-112": total,
        "BT-115": total,
    }


def _format_amount(amount: Decimal, document: Document) -> str:
    return f"{round_amount(amount, document.currency):f}"
