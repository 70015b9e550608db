"""The test documents of libraries for PDF, DOCX, PPTX and email are read correctly."""

import unicodedata
from pathlib import Path

import pytest

from app.engines.documents import ParsedDocument, ParseFailed, iterate_attachments, parse
from tests.engines.documents.pages import check_offsets

FOLDER = Path(__file__).parents[3] / ".venv" / "sample-documents"
MEDIA_TYPES = {
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".eml": "message/rfc822",
    ".msg": "application/vnd.ms-outlook",
}
COUNTS = {
    "django_mailbox": 20,
    "mail_parser": 23,
    "msg_parser": 2,
    "pikepdf": 35,
    "pypdf": 70,
    "python_docx": 44,
    "python_pptx": 64,
    "talon": 13,
}
LAYOUT = "\t\n\r\f"


def read(path: Path) -> ParsedDocument | str:
    """Return the document, or the code of the failure."""
    try:
        return parse(path, MEDIA_TYPES[path.suffix])
    except ParseFailed as failure:
        return failure.code


def sample(name: str) -> ParsedDocument:
    document = read(FOLDER / name)
    assert isinstance(document, ParsedDocument), document
    return document


@pytest.fixture(autouse=True)
def fetched() -> None:
    assert FOLDER.is_dir(), "make .venv/sample-documents.stamp fetches the documents"


@pytest.mark.parametrize("package", COUNTS)
def test_readable_documents_do_not_fail(package: str) -> None:
    paths = sorted((FOLDER / package).iterdir())
    assert len(paths) == COUNTS[package]
    failures = {}
    for path in paths:
        document = read(path)
        if isinstance(document, str):
            failures[path.name] = document
            continue
        assert not [
            char
            for char in document.text
            if unicodedata.category(char) in ("Cc", "Cs") and char not in LAYOUT
        ], path.name
        assert unicodedata.is_normalized("NFC", document.text), path.name
        if path.suffix == ".pdf":
            check_offsets(document)
    allowed = {"pypdf": {"password_protected"}, "pikepdf": {"password_protected", "unreadable"}}
    assert set(failures.values()) <= allowed.get(package, {"empty_document"})
    # The samples of python-docx are blank documents and empty tables, of python-pptx shapes and
    # charts. One PDF of pikepdf has a catalog and no pages.
    expected = {"pikepdf": 2, "pypdf": 11, "python_docx": 13, "python_pptx": 38}
    assert len(failures) == expected.get(package, 0), failures


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "example.pdf",
            [
                "Indonesia Germany Austria France Vatican",
                "Continent Asia Europe",
                "Capital Jakarta Berlin Vienna Paris Vatican City",
                "Currency Rupia EUR (€) -",
            ],
        ),
        ("side-by-side-subfig.pdf", ["(a) South American coati (b) Brown bear"]),
        ("multilang.pdf", ["مرحبا بالعالم", "Привет, мир", "你好世界"]),
        ("AutoCad_Diagram.pdf", ["M20x1.5 8.0 - 15.0 8", "M25x1.5 12.5 - 20.5 11"]),
        ("superscript-pdftex.pdf", ["x 2 = 9 means x ∈ { 3 , \u2212 3 } ."]),
        (
            "Seige_of_Vicksburg_Sample_OCR.pdf",
            ["however, did not last long; it became too conspicuous and dan-"],
        ),
    ],
)
def test_the_rows_of_a_page(name: str, lines: list[str]) -> None:
    found = sample(f"pypdf/{name}").text.replace("\f", "\n").split("\n")
    start = found.index(lines[0])
    assert [line for line in found[start:] if line in lines] == lines


def test_an_outlook_email() -> None:
    name = "mail_parser/mail_outlook_1.msg"
    headers, _, body = sample(name).text.partition("\n\n")
    assert [line.partition(":")[0] for line in headers.split("\n")] == [
        "From", "To", "Subject", "Date",
    ]  # fmt: skip
    assert body.startswith("Wenn Sie diesen Newsletter nicht lesen können")
    attached = list(iterate_attachments(FOLDER / name, MEDIA_TYPES[".msg"]))
    assert [one.name for one in attached] == ["newsletter.png"]
    assert attached[0].data.startswith(b"\x89PNG")


def test_emails_inside_an_outlook_email() -> None:
    for name, enclosed in (("outer", "test.eml"), ("other", "default_attachment.eml")):
        found = list(iterate_attachments(FOLDER / f"msg_parser/{name}.msg", MEDIA_TYPES[".msg"]))
        assert [one.name for one in found] == [enclosed]
        assert b"Subject: " in found[0].data


def test_there_are_documents_of_many_authors() -> None:
    counts = {
        extension: sum(path.suffix == extension for path in FOLDER.glob("*/*"))
        for extension in MEDIA_TYPES
    }
    assert counts[".pdf"] >= 100
    assert counts[".eml"] + counts[".msg"] >= 50
    assert counts[".docx"] + counts[".pptx"] >= 40


def test_a_page_of_pictures_in_word() -> None:
    document = sample("python_docx/shp-inline-shape-access.docx")
    assert [page.has_text_layer for page in document.pages] == [False, False]
