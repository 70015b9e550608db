"""The PDF: its text, its attachment, its fonts and its pages, as programs and readers see them."""

import hashlib
import io
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import facturx
import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfReader

from app.engines import documents
from app.engines.documents.processes import stop_server
from app.engines.invoices import content
from app.engines.invoices.model import Document, Language, Line, Party
from app.engines.invoices.service import render_pdf, render_xml
from app.engines.invoices.texts import LANGUAGES, load_translations
from tests.engines.invoices.samples import (
    BUYER,
    RULES,
    SELLER,
    STANDARD,
    build_document,
    build_line,
)
from tests.factories.processes import run_script
from tests.factories.properties import examples

MARKUP = '#panic("x") *bold* _it_ $x^2$ @ref <label> \\ [a] // c `raw` #{1+1} = h'
CHINESE = Party(
    "\u5317\u4eac\u5b57\u8282\u8df3\u52a8\u79d1\u6280\u6709\u9650\u516c\u53f8",
    ("\u6d77\u6dc0\u533a\u77e5\u6625\u8def\u753248\u53f7",),
    "100098",
    "\u5317\u4eac",
    "CN",
)
ARABIC = Party(
    "\u0634\u0631\u0643\u0629 \u0627\u0644\u0646\u0648\u0631 \u0644\u0644\u062a\u062c",
    ("\u0634\u0627\u0631\u0639 \u0627\u0644\u0645\u0644\u0643 \u0641\u0647\u062f",),
    "12345",
    "\u0627\u0644\u0631\u064a\u0627\u0636",
    "SA",
)
GREEK = replace(BUYER, name="\u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac \u0391\u0395")
RUSSIAN = replace(BUYER, name="\u041e\u041e\u041e \u0420\u043e\u043c\u0430\u0448\u043a\u0430")
TAMIL = replace(BUYER, name="\u0ba4\u0bae\u0bbf\u0bb4\u0bcd")


@pytest.fixture(scope="module", autouse=True)
def _stop() -> Iterator[None]:
    yield
    stop_server()


def render(document: Document) -> bytes:
    return render_pdf(document, render_xml(document))


def read_pages(pdf: bytes, folder: Path) -> list[str]:
    """Return the text of each page as the service reads it, with plain spaces."""
    path = folder / "invoice.pdf"
    path.write_bytes(pdf)
    pages = documents.parse(path, "application/pdf").pages
    return [plain(page.text) for page in pages]


def read_text(document: Document, folder: Path) -> str:
    return "\n".join(read_pages(render(document), folder))


def build_lines(count: int) -> list[Line]:
    return [
        build_line(f"Documents {n}", str(n * 37), "0.0513", unit="C62") for n in range(1, count)
    ]


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_text_has_every_line_and_all_totals(language: Language, tmp_path: Path) -> None:
    lines = [*build_lines(20), build_line("Reduced", tax=1), build_line("Refund", "-1", "9.99")]
    document = build_document(
        lines, rules=[STANDARD, RULES["reduced"]], language=language, notes=("Thank you.",)
    )
    text, texts = read_text(document, tmp_path), load_translations(language)
    for number, line in enumerate(document.lines, start=1):
        cells = (
            str(number),
            line.description,
            texts.format_quantity(line.quantity),
            texts.units[line.unit],
            texts.format_price(line.unit_price, "EUR"),
            texts.format_amount(line.amount, "EUR"),
        )
        assert plain(" ".join(cells)) in text
    for tax in document.taxes:
        assert plain(texts.format_amount(tax.amount, "EUR")) in text
    assert plain(texts.labels["subtotal"]) in text
    total = texts.format_money(document.total, "EUR")
    assert plain(f"{texts.labels['total']} {total}") in text
    for part in ("2026-000042", "IE6433435OA", "DE136695976", "DE89 3704", "Thank you."):
        assert part in text


@pytest.mark.parametrize("buyer", [CHINESE, ARABIC, GREEK, RUSSIAN], ids=lambda p: p.country)
def test_names_of_other_scripts_are_shown(buyer: Party, tmp_path: Path) -> None:
    text = read_text(build_document(buyer=buyer), tmp_path)
    for part in (buyer.name, buyer.city, *buyer.address_lines):
        assert part in text


def test_a_chinese_name_can_be_that_of_the_seller(tmp_path: Path) -> None:
    seller = replace(CHINESE, tax_number="91110108551385082Q")
    assert read_text(build_document(seller=seller), tmp_path).count(seller.name) >= 3


def test_only_fonts_of_packages_are_used() -> None:
    pdf = render(build_document([build_line(CHINESE.name)], buyer=TAMIL, seller=SELLER))
    fonts = {
        font["/BaseFont"].rpartition("+")[2]
        for page in PdfReader(io.BytesIO(pdf)).pages
        for font in page["/Resources"]["/Font"].values()
    }
    families = {name.partition("-")[0] for name in fonts}
    assert families == {"FiraGO", "NotoSansCJKjp", "NotoSansTamil"}


def test_markup_is_shown_literally(tmp_path: Path) -> None:
    document = build_document(
        [build_line(MARKUP)],
        buyer=replace(BUYER, name=MARKUP[:30], city=MARKUP[-30:]),
        notes=(MARKUP,),
        number='#panic("x")',
    )
    text = read_text(document, tmp_path)
    assert text.count(MARKUP) == 2
    assert text.count(MARKUP[:30]) == text.count(MARKUP[-30:].strip()) == 3


def test_a_character_without_a_font_is_written_as_its_code(tmp_path: Path) -> None:
    buyer = replace(BUYER, name="Acme \U00012000 \u0e01\u0bbf")
    assert "Acme [U+12000] \u0e01[U+0BBF]" in read_text(build_document(buyer=buyer), tmp_path)


def test_a_pdf_is_written_even_if_a_missing_font_was_not_foreseen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content, "replace_missing_glyphs", lambda text: text)
    buyer = replace(BUYER, name="Acme \U00012000 \u5317\u4eac")
    assert "Acme [U+12000] \u5317\u4eac" in read_text(build_document(buyer=buyer), tmp_path)


@examples(25)
@given(st.lists(st.text(min_size=1, max_size=60).filter(str.strip), min_size=4, max_size=4))
def test_any_text_is_rendered(texts: list[str]) -> None:
    name, city, description, note = texts
    buyer = replace(BUYER, name=name, city=city)
    pdf = render(build_document([build_line(description)], buyer=buyer, notes=(note,)))
    assert len(PdfReader(io.BytesIO(pdf)).pages) == 1


def test_the_xml_is_attached_unchanged() -> None:
    document = build_document()
    xml = render_xml(document)
    pdf = render_pdf(document, xml)
    reader = PdfReader(io.BytesIO(pdf), strict=True)
    assert reader.attachments["factur-x.xml"] == [xml]
    (specification,) = (item.get_object() for item in reader.root_object["/AF"])
    assert specification["/AFRelationship"] == "/Alternative"
    found = facturx.get_facturx_xml_from_pdf(pdf, check_xsd=True, check_schematron=False)
    assert found == ("factur-x.xml", xml)
    attachment = pypdfium2.PdfDocument(pdf).get_attachment(0)
    assert bytes(attachment.get_data()) == xml


def test_the_metadata_are_those_of_pdf_a_and_factur_x() -> None:
    reader = PdfReader(io.BytesIO(render(build_document(language="de"))))
    metadata = reader.root_object["/Metadata"].get_data().decode()
    for element in (
        *("pdfaid:part>3<", "pdfaid:conformance>B<", "fx:DocumentType>INVOICE<"),
        *("fx:DocumentFileName>factur-x.xml<", "fx:ConformanceLevel>EN 16931<"),
        *("pdfaSchema:prefix>fx<", "pdfaSchema:prefix>xmpMM<"),
    ):
        assert element in metadata
    assert reader.root_object["/Lang"] == "de"
    assert reader.root_object["/MarkInfo"]["/Marked"]
    assert reader.metadata is not None
    assert reader.metadata.title == "Rechnung 2026-000042"
    assert reader.metadata.creation_date == build_document().issued_at


def test_without_xml_there_is_no_attachment(tmp_path: Path) -> None:
    line = build_line("Plan", "1", "49.005", currency="KWD")
    pdf = render(build_document([line], currency="KWD"))
    reader = PdfReader(io.BytesIO(pdf))
    assert not list(reader.attachments)
    assert "pdfaid:part>3<" in reader.root_object["/Metadata"].get_data().decode()
    (text,) = read_pages(pdf, tmp_path)
    assert "Total KWD 58.316" in text


def test_a_draft_says_so_and_asks_for_no_payment(tmp_path: Path) -> None:
    pdf = render_pdf(build_document(number=None), None)
    text = "\n".join(read_pages(pdf, tmp_path))
    assert "Draft" in text
    assert "Please pay" not in text


def test_a_credit_note_names_its_invoice(tmp_path: Path) -> None:
    number = "2026-000041"
    document = build_document(kind="credit_note", corrected_invoice_number=number, language="de")
    text = read_text(document, tmp_path)
    for part in ("Rechnungskorrektur", "2026-000041", "Wir schreiben Ihnen 58,31 EUR gut."):
        assert part in text
    assert "Fällig" not in text


def test_the_reason_is_stated_if_no_tax_is_charged(tmp_path: Path) -> None:
    document = build_document(rules=[RULES["reverse charge"]], language="fr")
    assert "Autoliquidation" in read_text(document, tmp_path)
    assert "Small business" in read_text(build_document(rules=[RULES["exempt"]]), tmp_path)


def test_long_tables_have_running_totals(tmp_path: Path) -> None:
    document = build_document(build_lines(121))
    pages = read_pages(render(document), tmp_path)
    assert len(pages) > 3
    running = Decimal(0)
    ends = {}
    for line in document.lines:
        running += line.amount
        ends[line.description] = f"{running:,.2f}"
    for number, (page, following) in enumerate(pairwise(pages), start=1):
        rows = [row for row in page.splitlines() if " Documents " in row]
        last = " ".join(rows[-1].split()[1:3])
        assert f"Carried forward {ends[last]}" in page
        assert f"Brought forward {ends[last]}" in following
        assert "No. Description" in following
        assert f"Page {number} of {len(pages)}" in page
    assert "Brought forward" not in pages[0]
    assert "Carried forward" not in pages[-1]
    assert sum(page.count(" Documents ") for page in pages) == 120


def test_the_layout_that_documents_share_has_no_text_of_another_document(tmp_path: Path) -> None:
    lines = build_lines(60)
    for number, seller in (
        ("A-1", SELLER),
        ("B-2", SELLER),
        ("C-3", replace(SELLER, name="Other")),
    ):
        document = build_document(lines, number=number, seller=seller)
        pages = read_pages(render(document), tmp_path)
        assert len(pages) > 1
        assert all(f"Invoice {number}" in page for page in pages[1:])
        assert all(seller.name in page for page in pages)
        metadata = PdfReader(io.BytesIO(render(document))).metadata
        assert metadata is not None
        assert (metadata.title, metadata.author) == (f"Invoice {number}", seller.name)


@pytest.mark.parametrize(
    "description",
    [
        "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft " * 3,
        "x" * 500,
        "0123456789" * 30,
        "\u5317" * 300,
        "https://example.com/" + "a1" * 200,
    ],
    ids=["words", "letters", "digits", "chinese", "address"],
)
def test_nothing_is_printed_beside_the_page(description: str) -> None:
    lines = [build_line(description, "1000000000000000", "99.999999", unit="C62")]
    buyer = replace(BUYER, name=description[:300], city=description[:200])
    document = pypdfium2.PdfDocument(render(build_document(lines, buyer=buyer, language="de")))
    for page in document:
        text = page.get_textpage()
        boxes = [text.get_charbox(place) for place in range(text.count_chars())]
        assert max(right for _, _, right, _ in boxes) < page.get_width() - 45
        assert min(left for left, _, _, _ in boxes) > 55


def test_longest_texts_of_the_seller_leave_room_for_lines() -> None:
    name = "Wm" * 150
    seller = Party(name, (name,) * 3, name, name, "DE", "D" + name[1:], name, name)
    document = build_document([build_line("W" * 500)] * 3, seller=seller, buyer=seller)
    assert len(PdfReader(io.BytesIO(render(document))).pages) < 10


def test_the_same_document_has_the_same_bytes_in_every_process() -> None:
    program = (
        "import hashlib, sys\n"
        "from app.engines.invoices.service import render_pdf, render_xml\n"
        "from tests.engines.invoices.test_pdf import MARKUP, build_document, build_lines\n"
        "document = build_document(build_lines(40), notes=(MARKUP,))\n"
        "sys.stdout.write(hashlib.sha256(render_pdf(document, render_xml(document))).hexdigest())\n"
    )
    document = build_document(build_lines(40), notes=(MARKUP,))
    assert run_script(program) == hashlib.sha256(render(document)).hexdigest()
    assert render(document) == render(document)


@pytest.mark.parametrize("module", ["typst", "facturx", "pypdf", "fontTools"])
def test_large_libraries_are_imported_at_first_use(module: str) -> None:
    program = (
        "import sys\n"
        "from app.engines.invoices import charges, service, tax_numbers, taxes, texts\n"
        f"sys.exit({module!r} in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_numbers_of_all_sizes_are_aligned(tmp_path: Path) -> None:
    line = build_line("Total", "999999999999999", "1", currency="JPY", unit="C62")
    text = read_text(build_document([line], currency="JPY", language="es"), tmp_path)
    assert "999.999.999.999.999" in text
