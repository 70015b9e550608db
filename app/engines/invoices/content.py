"""Build the texts for a document's PDF in the structure that `layout.typ` expects."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from app.engines.invoices.fonts import FAMILIES, replace_missing
from app.engines.invoices.model import Document, Party, Tax
from app.engines.invoices.plain import clean_text
from app.engines.invoices.sentences import describe_payment, describe_reason
from app.engines.invoices.tax_numbers import is_vat_number
from app.engines.invoices.texts import Texts, load_texts

_HAN_SCRIPTS = {
    "CN": ("zh", "CN"),
    "SG": ("zh", "CN"),
    "TW": ("zh", "TW"),
    "HK": ("zh", "HK"),
    "MO": ("zh", "HK"),
    "JP": ("ja", "JP"),
    "KR": ("ko", "KR"),
}
"""The language and region whose shapes of Han characters a country's names and addresses use."""
_ZERO_WIDTH_SPACE = "\u200b"
_LONG_WORD = re.compile(r"[^\s/\u2010-\u2015\u2e80-\u9fff\uac00-\ud7af-]{29,}")
_CONSONANTS = re.compile(r"[^aeiouyäöüáéíóúàèùâêîôûëïœ]{9,}", re.IGNORECASE)
_MAX_WORD_LENGTH = 80
_HEADINGS = ("position", "description", "quantity", "unit", "unit_price")


def build_content(document: Document) -> dict[str, Any]:
    """Return all formatted texts of a checked document in its language."""
    texts = load_texts(document.language)
    labels = texts.labels
    title = labels[document.kind]
    number = _prepare_text(document.number) if document.number else labels["draft"]
    seller = document.seller
    rows = _list_address(seller, texts)
    return {
        "language": document.language,
        "fonts": FAMILIES,
        "title": title,
        "heading": f"{title} {number}",
        "labels": {name: labels[name] for name in ("brought_forward", "carried_forward")},
        "page": texts.sentences["page"],
        "seller": {"name": _prepare_text(seller.name), "script": _HAN_SCRIPTS.get(seller.country)},
        "sender": " · ".join([_prepare_text(seller.name), *rows[:-1]]),
        "buyer": {
            "name": _prepare_text(document.buyer.name),
            "rows": _list_address(document.buyer, texts),
            "script": _HAN_SCRIPTS.get(document.buyer.country),
        },
        "facts": list(_list_facts(document, texts, number)),
        "headings": [
            *(labels[name] for name in _HEADINGS),
            f"{labels['amount']} ({document.currency})",
        ],
        "rows": list(_list_rows(document, texts)),
        "sums": list(_list_sums(document, texts)),
        "total": _describe_total(document, texts),
        "remarks": _list_remarks(document, texts),
        "footer": [column for column in _list_footer(document, texts) if column],
    }


def _prepare_text(text: str) -> str:
    return _break_words(replace_missing(clean_text(text)))


def _break_words(text: str) -> str:
    """Allow line breaks anywhere in long strings that hyphenation cannot divide."""
    return _LONG_WORD.sub(lambda match: _divide_word(match[0]), text)


def _divide_word(word: str) -> str:
    is_natural = word.isalpha() and len(word) <= _MAX_WORD_LENGTH and not _CONSONANTS.search(word)
    return word if is_natural else _ZERO_WIDTH_SPACE.join(word)


def _list_address(party: Party, texts: Texts) -> list[str]:
    city = f"{party.postal_code} {party.city}"
    rows = [_prepare_text(row) for row in (*party.address_lines, city) if row.strip()]
    return [*rows, _prepare_text(texts.get_country_name(party.country))]


def _list_facts(document: Document, texts: Texts, number: str) -> Iterator[tuple[str, str]]:
    labels, zone = texts.labels, document.time_zone
    yield labels["number"], number
    yield labels["issued"], texts.format_day(document.issued_at, zone)
    if document.refers_to:
        yield labels["refers_to"], _prepare_text(document.refers_to)
    yield labels["period"], texts.format_period(document.period_from, document.period_to, zone)
    if document.due_at and document.kind == "invoice":
        yield labels["due"], texts.format_day(document.due_at, zone)
    buyer = document.buyer
    if buyer.tax_number:
        name = "vat" if is_vat_number(buyer.tax_number, buyer.country) else "tax"
        yield labels[f"customer_{name}_number"], _prepare_text(buyer.tax_number)


def _list_rows(document: Document, texts: Texts) -> Iterator[dict[str, str]]:
    running = Decimal(0)
    for position, line in enumerate(document.lines, start=1):
        running += line.amount
        yield {
            "position": str(position),
            "description": _prepare_text(line.description),
            "quantity": texts.format_quantity(line.quantity),
            "unit": texts.units.get(line.unit, line.unit),
            "price": texts.format_price(line.unit_price, document.currency),
            "amount": texts.format_amount(line.amount, document.currency),
            "running": texts.format_amount(running, document.currency),
        }


def _list_sums(document: Document, texts: Texts) -> Iterator[tuple[str, str]]:
    currency = document.currency
    yield texts.labels["subtotal"], texts.format_amount(document.subtotal, currency)
    for tax in document.taxes:
        base = texts.format_amount(tax.base, currency)
        values = {
            "name": _get_tax_name(tax, texts),
            "rate": texts.format_rate(tax.rate),
            "base": base,
        }
        label = texts.sentences["tax_rate"].format(**values)
        yield label, texts.format_amount(tax.amount, currency)


def _get_tax_name(tax: Tax, texts: Texts) -> str:
    return texts.taxes.get(tax.name) or _prepare_text(tax.name)


def _describe_total(document: Document, texts: Texts) -> tuple[str, str]:
    name = "total_credit" if document.kind == "credit_note" else "total"
    return texts.labels[name], texts.format_money(document.total, document.currency)


def _list_remarks(document: Document, texts: Texts) -> list[str]:
    reasons = (describe_reason(tax, texts) for tax in document.taxes)
    return [
        *(_break_words(replace_missing(reason)) for reason in reasons if reason),
        *([_break_words(replace_missing(describe_payment(document)))] if document.number else []),
        *map(_prepare_text, document.notes),
    ]


def _list_footer(document: Document, texts: Texts) -> Iterator[list[str]]:
    """Return the columns of the footer: the seller, its registrations, and its bank account."""
    seller, labels, payment = document.seller, texts.labels, document.payment
    yield [_prepare_text(seller.name), *_list_address(seller, texts)]
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
