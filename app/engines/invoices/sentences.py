"""Build the sentences that the XML and the PDF of a document share."""

from app.engines.invoices.model import Document, Tax
from app.engines.invoices.plain import clean_text
from app.engines.invoices.texts import Texts, load_texts


def describe_payment(document: Document) -> str:
    """Return the sentence that states the amount to pay and the due date."""
    texts = load_texts(document.language)
    sentence = texts.sentences[_choose_sentence(document)]
    due = texts.format_day(document.due_at, document.time_zone) if document.due_at else ""
    return sentence.format(
        total=texts.format_money(document.total, document.currency),
        due=due,
        number=clean_text(document.number or texts.labels["draft"]),
    )


def describe_reason(tax: Tax, texts: Texts) -> str | None:
    """Return the reason why no tax is charged, or None if tax is charged."""
    if tax.rate:
        return None
    return clean_text(tax.reason) if tax.reason else texts.reasons[tax.category]


def _choose_sentence(document: Document) -> str:
    if document.total <= 0:
        return "no_payment"
    if document.kind == "credit_note":
        return "credit"
    return "pay" if document.due_at else "pay_now"
