"""Build the text of an invoice's PDF, in the structure that `layout.typ` expects."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from app.engines.invoices.fonts import FONT_FAMILIES, replace_missing_glyphs
from app.engines.invoices.model import Document, Party, Tax
from app.engines.invoices.plain_text import clean_text
from app.engines.invoices.tax_numbers import is_vat_number
from app.engines.invoices.texts import (
    Translations,
    describe_payment,
    describe_reason,
    load_translations,
)

_HAN_SCRIPTS = {
    "CN": ("zh", "CN"),
    "SG": ("zh", "CN"),
    "TW": ("zh", "TW"),
    "HK": ("zh", "HK"),
    "MO": ("zh", "HK"),
    "JP": ("ja", "JP"),
    "KR": ("ko", "KR"),
}
"""The language and region, by country, that determine the shapes of a party's Han characters."""
_ZERO_WIDTH_SPACE = "\u200b"
_LONG_WORD = re.compile(r"[^\s/\u2010-\u2015\u2e80-\u9fff\uac00-\ud7af-]{29,}")
_CONSONANTS = re.compile(r"[^aeiouyäöüáéíóúàèùâêîôûëïœ]{9,}", re.IGNORECASE)
_MAX_WORD_LENGTH = 80
_HEADINGS = ("position", "description", "quantity", "unit", "unit_price")


def build_content(document: Document) -> dict[str, Any]:
    """Build the content for `layout.typ`: all text of a valid document, in its language."""
    translations = load_translations(document.language)
    labels = translations.labels
    title = labels[document.kind]
    number = _prepare_text(document.number) if document.number else labels["draft"]
    seller = document.seller
    seller_address = _list_address(seller, translations)
    return {
        "language": document.language,
        "fonts": FONT_FAMILIES,
        "title": title,
        "heading": f"{title} {number}",
        "labels": {name: labels[name] for name in ("brought_forward", "carried_forward")},
        "page": translations.sentences["page"],
        "seller": {"name": _prepare_text(seller.name), "script": _HAN_SCRIPTS.get(seller.country)},
        "sender": " · ".join([_prepare_text(seller.name), *seller_address[:-1]]),
        "buyer": {
            "name": _prepare_text(document.buyer.name),
            "rows": _list_address(document.buyer, translations),
            "script": _HAN_SCRIPTS.get(document.buyer.country),
        },
        "details": list(_list_details(document, translations, number)),
        "headings": [
            *(labels[name] for name in _HEADINGS),
            f"{labels['amount']} ({document.currency})",
        ],
        "rows": list(_list_rows(document, translations)),
        "totals": list(_list_totals(document, translations)),
        "total": _build_total_row(document, translations),
        "remarks": _list_remarks(document, translations),
        "footer": [column for column in _list_footer(document, translations) if column],
    }


def _prepare_text(text: str) -> str:
    return _break_words(replace_missing_glyphs(clean_text(text)))


def _break_words(text: str) -> str:
    """Allow line breaks anywhere in long words that hyphenation cannot divide."""
    return _LONG_WORD.sub(lambda match: _divide_word(match[0]), text)


def _divide_word(word: str) -> str:
    is_natural = word.isalpha() and len(word) <= _MAX_WORD_LENGTH and not _CONSONANTS.search(word)
    return word if is_natural else _ZERO_WIDTH_SPACE.join(word)


def _list_address(party: Party, translations: Translations) -> list[str]:
    city = f"{party.postal_code} {party.city}"
    rows = [_prepare_text(row) for row in (*party.address_lines, city) if row.strip()]
    return [*rows, _prepare_text(translations.get_country_name(party.country))]


def _list_details(
    document: Document, translations: Translations, number: str
) -> Iterator[tuple[str, str]]:
    labels, zone = translations.labels, document.time_zone
    yield labels["number"], number
    yield labels["issued"], translations.format_day(document.issued_at, zone)
    if document.corrected_invoice_number:
        yield labels["refers_to"], _prepare_text(document.corrected_invoice_number)
    yield (
        labels["period"],
        translations.format_period(document.period_from, document.period_to, zone),
    )
    if document.due_at and document.kind == "invoice":
        yield labels["due"], translations.format_day(document.due_at, zone)
    buyer = document.buyer
    if buyer.tax_number:
        number_type = "vat" if is_vat_number(buyer.tax_number, buyer.country) else "tax"
        yield labels[f"customer_{number_type}_number"], _prepare_text(buyer.tax_number)


def _list_rows(document: Document, translations: Translations) -> Iterator[dict[str, str]]:
    running_total = Decimal(0)
    for position, line in enumerate(document.lines, start=1):
        running_total += line.amount
        yield {
            "position": str(position),
            "description": _prepare_text(line.description),
            "quantity": translations.format_quantity(line.quantity),
            "unit": translations.units.get(line.unit, line.unit),
            "price": translations.format_price(line.unit_price, document.currency),
            "amount": translations.format_amount(line.amount, document.currency),
            "running_total": translations.format_amount(running_total, document.currency),
        }


def _list_totals(document: Document, translations: Translations) -> Iterator[tuple[str, str]]:
    currency = document.currency
    yield translations.labels["subtotal"], translations.format_amount(document.subtotal, currency)
    for tax in document.taxes:
        base = translations.format_amount(tax.base, currency)
        values = {
            "name": _get_tax_name(tax, translations),
            "rate": translations.format_rate(tax.rate),
            "base": base,
        }
        label = translations.sentences["tax_rate"].format(**values)
        yield label, translations.format_amount(tax.amount, currency)


def _get_tax_name(tax: Tax, translations: Translations) -> str:
    return translations.taxes.get(tax.name) or _prepare_text(tax.name)


def _build_total_row(document: Document, translations: Translations) -> tuple[str, str]:
    name = "total_credit" if document.kind == "credit_note" else "total"
    return translations.labels[name], translations.format_money(document.total, document.currency)


def _list_remarks(document: Document, translations: Translations) -> list[str]:
    reasons = (describe_reason(tax, translations) for tax in document.taxes)
    return [
        *(_break_words(replace_missing_glyphs(reason)) for reason in reasons if reason),
        *(
            [_break_words(replace_missing_glyphs(describe_payment(document)))]
            if document.number
            else []
        ),
        *map(_prepare_text, document.notes),
    ]


def _list_footer(document: Document, translations: Translations) -> Iterator[list[str]]:
    """Yield the footer's columns: seller address; tax number, register and email; bank account."""
    seller, labels, payment = document.seller, translations.labels, document.payment
    yield [_prepare_text(seller.name), *_list_address(seller, translations)]
    is_vat = is_vat_number(seller.tax_number, seller.country)
    yield _label_rows(
        (labels["vat_number" if is_vat else "tax_number"], seller.tax_number),
        (labels["registration"], seller.registration),
        (labels["email"], seller.email),
    )
    if payment is not None:
        yield _label_rows(
            (labels["account_holder"], payment.account_holder),
            (labels["iban"], _group_iban(payment.iban)),
            (labels["bic"], payment.bic),
        )


def _label_rows(*rows: tuple[str, str | None]) -> list[str]:
    return [f"{label}: {_prepare_text(text)}" for label, text in rows if text]


def _group_iban(iban: str) -> str:
    compact = iban.replace(" ", "").upper()
    return " ".join(compact[start : start + 4] for start in range(0, len(compact), 4))
