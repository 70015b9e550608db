"""The demo documents are what they claim to be, and their labels are right."""

import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile
from collections import Counter
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pypdfium2
import pypdfium2.raw
import pytest

from demo.documents import DOCUMENTS, DemoDocument
from tests.demo.reading import normalize, read

SCAN = "scan0007.pdf"
ROTATED = "factura de lado.pdf"
WITH_TEXT = [document for document in DOCUMENTS if document.name != SCAN]
PDFS = [document for document in DOCUMENTS if document.media_type == "application/pdf"]
INVOICES = [document for document in DOCUMENTS if document.schema == "invoice"]
CONTRACTS = [document for document in DOCUMENTS if document.schema == "contract"]

MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "ru": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
}
DATES = {
    "en": ("{d} {month} {y}", "{m:02}/{d:02}/{y}"),
    "de": ("{d:02}.{m:02}.{y}", "{d}. {month} {y}"),
    "fr": ("{d} {month} {y}",),
    "es": ("{d:02}/{m:02}/{y}",),
    "el": ("{d:02}/{m:02}/{y}",),
    "ru": ("{d} {month} {y}",),
    "ar": ("{y}/{m:02}/{d:02}",),
    "ja": ("{y}年{m}月{d}日",),
}
SEPARATORS = ((",", "."), (".", ","), (" ", ","), ("'", "."))
SIGNS = {
    "EUR": "€",
    "GBP": "£",
    "USD": "$",
    "CHF": "CHF",
    "RUB": "руб.",  # noqa: RUF001 - it is Cyrillic
    "EGP": "ج.م",
    "JPY": "円",
}
PAID = {"en": "paid", "es": "pagado", "ru": "оплачено"}
LAWS = {
    "GB": "law of England and Wales",
    "FR": "soumis au droit français",
    "DE": "Es gilt deutsches Recht",
    "RU": "право Российской Федерации",
}
IBAN_LENGTHS = {"DE": 22, "GB": 22, "FR": 27, "ES": 24, "CH": 21, "IE": 22, "GR": 27, "EG": 29}


def each(documents: list[DemoDocument]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("document", documents, ids=[d.name for d in documents])


def named(name: str) -> DemoDocument:
    return next(document for document in DOCUMENTS if document.name == name)


def values(document: DemoDocument) -> dict[str, Any]:
    return {str(tag["field"]): tag["value"] for tag in document.correct_tags if "row" not in tag}


def rows(document: DemoDocument) -> list[dict[str, Any]]:
    lines: dict[int, dict[str, Any]] = {}
    for tag in document.correct_tags:
        if "row" in tag:
            column = str(tag["field"]).removeprefix("line_items.")
            lines.setdefault(int(str(tag["row"])), {})[column] = tag["value"]
    assert sorted(lines) == list(range(len(lines)))
    return [lines[number] for number in range(len(lines))]


def contains_amount(text: str, amount: Decimal) -> bool:
    """Return whether the text contains the amount as a separate number, in any notation."""
    written = {
        f"{amount:,}".translate({ord(","): group, ord("."): point}) for group, point in SEPARATORS
    }
    return any(re.search(rf"(?<!\d){re.escape(form)}(?!\d)", text) for form in written)


def printed_dates(document: DemoDocument, value: str) -> set[str]:
    day = date.fromisoformat(value)
    months = MONTHS.get(document.language, "").split()
    month = months[day.month - 1] if months else ""
    patterns = DATES[document.language]
    return {pattern.format(d=day.day, m=day.month, y=day.year, month=month) for pattern in patterns}


def money(value: dict[str, str]) -> Decimal:
    return Decimal(value["amount"])


def test_the_collection_is_as_varied_as_promised() -> None:
    states = Counter(document.status for document in DOCUMENTS)
    assert len(DOCUMENTS) >= 14
    assert states["unlabeled"] >= 3
    assert states["draft"] >= 2
    assert states["submitted"] >= 3
    assert states["accepted"] >= 3
    assert states["rejected"] == 1
    languages = {document.language for document in DOCUMENTS}
    assert languages >= {"en", "de", "fr", "es", "el", "ru", "ja", "ar"}
    assert len({document.media_type for document in DOCUMENTS}) == 5
    assert len({document.name for document in DOCUMENTS}) == len(DOCUMENTS)
    contents = {hashlib.sha256(document.render()).digest() for document in DOCUMENTS}
    assert len(contents) == len(DOCUMENTS)


def test_made_quickly_lazily_and_alike_in_another_process() -> None:
    script = """
import hashlib, json, sys, time
from demo.documents import DOCUMENTS
early = sorted({"reportlab", "PIL", "docx"} & set(sys.modules))
started = time.process_time()
made = {document.name: hashlib.sha256(document.render()).hexdigest() for document in DOCUMENTS}
print(json.dumps({"early": early, "seconds": time.process_time() - started, "made": made}))
"""
    here = {d.name: hashlib.sha256(d.render()).hexdigest() for d in DOCUMENTS}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    there = json.loads(done.stdout)
    assert there["early"] == []
    assert there["seconds"] < 2
    assert there["made"] == here


@each([document for document in DOCUMENTS if document.name.endswith(".docx")])
def test_docx_entries_do_not_carry_the_clock(document: DemoDocument) -> None:
    with zipfile.ZipFile(io.BytesIO(document.render())) as archive:
        dates = {entry.date_time for entry in archive.infolist()}
    assert dates == {(2026, 1, 2, 0, 0, 0)}


@each(INVOICES)
def test_sums_follow_from_the_lines(document: DemoDocument) -> None:
    head, lines = values(document), rows(document)
    unit = Decimal(1) if head["currency"] == "JPY" else Decimal("0.01")
    for line in lines:
        product = Decimal(str(line["quantity"])) * money(line["unit_price"])
        assert money(line["amount"]) == product.quantize(unit, ROUND_HALF_UP)
    assert money(head["subtotal"]) == sum(money(line["amount"]) for line in lines)
    assert money(head["total"]) == money(head["subtotal"]) + money(head["tax_amount"])
    currencies = {line["amount"]["currency"] for line in lines} | {head["total"]["currency"]}
    assert currencies == {head["currency"]}


@each([document for document in INVOICES if "iban" in values(document)])
def test_ibans_pass_their_check_digits(document: DemoDocument) -> None:
    iban = values(document)["iban"]
    assert len(iban) == IBAN_LENGTHS[iban[:2]]
    assert int("".join(str(int(char, 36)) for char in iban[4:] + iban[:4])) % 97 == 1


@each([document for document in WITH_TEXT if document.schema == "invoice"])
def test_an_invoice_prints_its_values(document: DemoDocument) -> None:
    text, head = read(document), values(document)
    for field in ("invoice_number", "supplier_name", "supplier_vat_id", "customer_name"):
        assert field not in head or normalize(head[field]) in text, field
    for part in head["supplier_address"].split(", "):
        assert normalize(part) in text
    if "iban" in head:
        assert head["iban"] in text.replace(" ", "")
    for field in {"invoice_date", "due_date"} & head.keys():
        assert any(form in text for form in printed_dates(document, head[field])), field
    for field in ("subtotal", "tax_amount", "total"):
        assert contains_amount(text, money(head[field])), field
    assert SIGNS[head["currency"]] in text
    if head["paid"]:
        assert PAID[document.language] in text.casefold()
    for line in rows(document):
        assert normalize(line["description"]) in text
        assert contains_amount(text, money(line["unit_price"]))
        assert contains_amount(text, money(line["amount"]))
        quantity = str(line["quantity"])
        assert re.search(rf"(?<!\d){quantity.replace('.', '[.,]')}(?!\d)", text)


@each(CONTRACTS)
def test_a_contract_contains_its_values(document: DemoDocument) -> None:
    text, head = read(document), values(document)
    parties = [str(tag["value"]) for tag in document.correct_tags if tag["field"] == "parties"]
    assert len(parties) == 2
    for value in (head["title"], *parties, head["confidentiality_clause"]):
        assert normalize(value) in text
    for field in ("effective_date", "end_date"):
        assert any(form in text for form in printed_dates(document, head[field])), field
    assert LAWS[head["governing_law"]] in text
    assert re.search(rf"\b{head['termination_notice_days']} (days|jours|дней|Tagen)\b", text)
    if "value" in head:
        assert contains_amount(text, money(head["value"]))
    assert head["signed"] == ("____" not in text)


@each(PDFS)
def test_pdf_pages_show_something_and_nothing_runs_off(document: DemoDocument) -> None:
    with pypdfium2.PdfDocument(document.render()) as pdf:
        for page in pdf:
            darkest, brightest = page.render(scale=0.5).to_pil().convert("L").getextrema()
            assert darkest < 120
            assert brightest > 230
            left, bottom, right, top = page.get_mediabox()
            text = page.get_textpage()
            for index in range(text.count_chars()):
                x0, y0, x1, y1 = text.get_charbox(index)
                assert left <= x0 <= x1 <= right
                assert bottom <= y0 <= y1 <= top


def test_layouts_of_the_pdfs() -> None:
    shapes = {}
    for document in PDFS:
        with pypdfium2.PdfDocument(document.render()) as pdf:
            shapes[document.name] = (len(pdf), *(round(side) for side in pdf[0].get_size()))
    assert shapes["Master Services Agreement.pdf"] == (6, 595, 842)
    assert shapes["Eisenhain 4402718.pdf"] == (3, 595, 842)
    assert shapes["ticket cafetería.pdf"][1] == 227
    assert shapes["freight bill MLF-77310.pdf"] == (1, 792, 612)
    assert shapes["work order 8841-C.pdf"] == (1, 612, 792)
    assert shapes[ROTATED] == (1, 842, 595)
    # The place of the total tells apart the layouts that share one size of paper.
    assert len({_place_of_total(document) for document in PDFS[:3]}) == 3


def _place_of_total(document: DemoDocument) -> tuple[int, int]:
    with pypdfium2.PdfDocument(document.render()) as pdf:
        text = pdf[0].get_textpage()
        position = text.get_text_range().rindex(
            {"de": "Gesamt", "en": "Total", "fr": "TTC"}[document.language]
        )
        left, bottom, _, _ = text.get_charbox(position)
        return round(left), round(bottom)


def test_the_scan_is_one_crooked_grainy_image_without_text() -> None:
    with pypdfium2.PdfDocument(named(SCAN).render()) as pdf:
        page = pdf[0]
        assert page.get_textpage().count_chars() == 0
        kinds = [item.type for item in page.get_objects(max_depth=4)]
        assert kinds == [pypdfium2.raw.FPDF_PAGEOBJ_IMAGE]
        grey = page.render(scale=2).to_pil().convert("L")
    strips = (grey.crop((x, 0, x + 8, 300)).resize((1, 300)) for x in (150, 1000))
    rule_at = [min(range(300), key=strip.tobytes().__getitem__) for strip in strips]
    assert 8 < abs(rule_at[0] - rule_at[1]) < 40
    assert len(set(grey.crop((20, 1400, 300, 1500)).tobytes())) > 8


def test_the_rotated_page_is_drawn_on_its_side_and_shown_upright() -> None:
    with pypdfium2.PdfDocument(named(ROTATED).render()) as pdf:
        page = pdf[0]
        assert page.get_rotation() == 90
        assert page.get_mediabox()[2] < page.get_mediabox()[3]
        text = page.get_textpage()
        start = text.get_text_range().index("Molinos")
        first, last = text.get_charbox(start), text.get_charbox(start + len("Molinos") - 1)
    # Along the stored page's left edge upwards is, turned clockwise, from left to right.
    assert last[1] > first[3]
    assert abs(last[2] - first[2]) < 10


def test_text_files_come_in_different_encodings() -> None:
    named("τιμολόγιο.txt").render().decode("utf-8")
    for name in ("счёт 0315.txt", "NDA Entwurf.txt", "請求書.html"):
        with pytest.raises(UnicodeDecodeError):
            named(name).render().decode("utf-8")
    assert b'charset="shift_jis"' in named("請求書.html").render()
    assert b'dir="rtl"' in named("فاتورة.html").render()
