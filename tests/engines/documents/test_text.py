"""Plain text files in all supported encodings."""

from pathlib import Path

import pytest

from app.engines.documents import ParsedDocument, parse
from tests.engines.documents.parsing import get_failure, parse_data
from tests.engines.documents.samples import stored

# ruff: noqa: RUF001 - letters of many scripts are the point
GERMAN = "Rechnung für die Größe über 10 €\r\nSüße Grüße aus Köln, daß es schön wäre.\r\n"
TEXTS = {
    "cp1252": GERMAN,
    "cp1250": "Smlouva o dílo uzavřená mezi objednatelem a zhotovitelem, splatnost třicet dnů.",
    "iso8859_2": "Zażółć gęślą jaźń. Umowa najmu lokalu użytkowego między stronami.",
    "cp1251": "Счёт № 12345. Просим оплатить сумму в течение тридцати дней.",
    "koi8_r": "Счёт 12345. Просим оплатить сумму в течение тридцати дней.",
    "cp1253": "Τιμολόγιο αριθμός 12345. Παρακαλώ πληρώστε το ποσό.",
    "cp1254": "Fatura numarası 12345. Lütfen toplam tutarı ödeyiniz. İğne şişe",
    "cp1255": "חשבונית מספר 12345 נא לשלם את הסכום",
    "cp1256": "فاتورة رقم 12345 يرجى دفع المبلغ الإجمالي خلال ثلاثين يوما",
    "cp932": "請求書番号12345。三十日以内に合計金額をお支払いください。",
    "euc_jp": "請求書番号12345。三十日以内に合計金額をお支払いください。",
    "iso2022_jp": "請求書番号12345。三十日以内に合計金額をお支払いください。",
    "gb18030": "发票号码 12345 请在三十天内支付总金额。谢谢您的合作。",
    "big5": "發票號碼 12345 請在三十天內支付總金額。謝謝您的合作。",
    "cp949": "송장 번호 12345. 삼십일 이내에 총액을 지불하십시오.",
}
MARKED = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]


def read(folder: Path, data: bytes, media_type: str = "text/plain") -> ParsedDocument:
    return parse_data(folder, data, media_type)


@pytest.mark.parametrize("encoding", MARKED)
def test_unicode_encodings_with_and_without_a_mark(tmp_path: Path, encoding: str) -> None:
    assert read(tmp_path, GERMAN.encode(encoding)).text == GERMAN


@pytest.mark.parametrize("encoding", list(TEXTS))
def test_legacy_encodings(tmp_path: Path, encoding: str) -> None:
    text = TEXTS[encoding]
    assert read(tmp_path, text.encode(encoding)).text == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Café", id="a short word"),
        pytest.param("x = 1\n" * 50_000 + GERMAN, id="a late accent in a long file"),
        "A fatura deverá ser paga em trinta dias. São João, ação, coração.",
        "Fakturan förfaller på måndag. Köpare är Åke Öberg.",
        "El niño comió piñas en España, ¿verdad? Acción útil.",
        "Résumé de l'hôpital: où êtes-vous? Ça va, garçon.",
        "Fakturaen skal betales inden tredive dage. Blåbærgrød på øen, Ærø.",
    ],
)
def test_western_languages_are_not_taken_for_central_european(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text.encode("cp1252")).text == text


def test_damaged_utf8_is_decoded_as_utf8(tmp_path: Path) -> None:
    data = GERMAN.encode() * 3 + b"\xc3"
    assert read(tmp_path, data).text == GERMAN * 3 + "\ufffd"


def test_line_ends_are_kept_so_that_offsets_are_those_of_the_file(tmp_path: Path) -> None:
    text = "one\r\ntwo\rthree\nfour\x85five"
    document = read(tmp_path, text.encode(), "text/csv")
    assert document.text == text
    assert [word.text for word in document.pages[0].words] == text.split()
    assert len({word.box[1] for word in document.pages[0].words}) == 5


def test_nul_becomes_a_replacement_character(tmp_path: Path) -> None:
    text = "before " * 100 + "\x00" + " after"
    assert read(tmp_path, text.encode()).text == text.replace("\x00", "\ufffd")


@pytest.mark.parametrize("data", [b"", b" \r\n\t ", b"\xef\xbb\xbf"])
def test_nothing_in_it(tmp_path: Path, data: bytes) -> None:
    assert get_failure(read, tmp_path, data).code == "empty_document"


def test_too_long(tmp_path: Path) -> None:
    data = b"word " * 1000
    assert len(parse_data(tmp_path, data, "text/plain", max_text_chars=5000).text) == 5000
    for limit in (4999, 100):
        error = get_failure(parse_data, tmp_path, data, "text/plain", max_text_chars=limit)
        assert error.code == "too_large_unpacked"


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    path = stored(tmp_path, b"words", "\udcff \u202e'\"$(x)")
    assert parse(path, "text/plain").text == "words"
