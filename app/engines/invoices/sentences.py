"""Build the sentences that occur in both the XML and the PDF of a document."""

from app.engines.invoices.model import Document, Tax
from app.engines.invoices.plain import clean_text
from app.engines.invoices.texts import Translations, load_translations


def describe_payment(document: Document) -> str:
    """Return a sentence with the amount to pay and the due date, or with the amount credited."""
    translations = load_translations(document.language)
    sentence = translations.sentences[_choose_sentence(document)]
    due = translations.format_day(document.due_at, document.time_zone) if document.due_at else ""
    return sentence.format(
        total=translations.format_money(document.total, document.currency),
        due=due,
        number=clean_text(document.number or translations.labels["draft"]),
    )


def describe_reason(tax: Tax, translations: Translations) -> str | None:
    """Return the reason why no tax is charged, or None if tax is charged."""
    if tax.rate:
        return None
    return clean_text(tax.reason) if tax.reason else translations.reasons[tax.category]


def _choose_sentence(document: Document) -> str:
    if document.total <= 0:
        return "no_payment"
    if document.kind == "credit_note":
        return "credit"
    return "pay" if document.due_at else "pay_now"
