"""Language detection, and None for uncertain text."""

import pytest

from app.engines.documents.layout import parse_text

TEXTS = {
    "en": "The invoice is payable within thirty days of its date.",
    "de": "Die Rechnung ist innerhalb von dreißig Tagen zu bezahlen.",
    "fr": "La facture est payable dans les trente jours suivant sa date.",
    "es": "La factura deberá abonarse en un plazo de treinta días.",
    "ru": "Счёт подлежит оплате в течение тридцати дней.",
    "ja": "請求書は三十日以内にお支払いください。よろしくお願いします。",
    "zh": "请在三十天内支付发票金额。谢谢您的合作与支持。请在三十天内支付。",
    "ar": "يرجى دفع مبلغ الفاتورة في غضون ثلاثين يوما من تاريخها",
}


@pytest.mark.parametrize("code", list(TEXTS))
def test_languages(code: str) -> None:
    assert parse_text(TEXTS[code]).language == code


@pytest.mark.parametrize(
    "text", ["12345 67.89 2024-01-01", "OK", "a b c " * 100, "xqzv kwpt " * 30]
)
def test_uncertain_text(text: str) -> None:
    assert parse_text(text).language is None


def test_the_same_text_gives_the_same_language() -> None:
    assert len({parse_text(TEXTS["es"] + "\n" * i).language for i in range(20)}) == 1
