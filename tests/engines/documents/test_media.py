"""Detection of media types by content, and rejection of files with a different claimed type."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.documents import MEDIA_TYPES, UnsupportedMediaType
from app.engines.documents.detection import detect_media_type
from app.engines.documents.media import DOCX, ODT, PPTX, XLSX
from tests.engines.documents import office_files, samples, workbooks
from tests.engines.documents.parsing import expect_rejection

HTML = b"<!-- made by hand -->\n<!DOCTYPE html><html><body><p>Hello</p></body></html>"


def test_every_type_is_detected_by_its_content_alone() -> None:
    contents = {
        "application/pdf": samples.pdf(),
        DOCX: samples.word(lambda document: document.add_paragraph("Hello")),
        XLSX: workbooks.xlsx(workbooks.fill_invoice),
        PPTX: office_files.presentation(),
        ODT: office_files.open_document(),
        "application/vnd.oasis.opendocument.spreadsheet": office_files.spreadsheet(),
        "application/epub+zip": office_files.book(),
        "application/rtf": office_files.RTF,
        "text/html": HTML,
        "message/rfc822": bytes(samples.mail()),
        "text/plain": b"Just some words.",
        **{f"image/{name.lower()}": samples.image(name) for name in samples.IMAGE_FORMATS},
        "image/heic": b"\0\0\0\x18ftypheic\0\0\0\0mif1heic",
    }
    found = {kind: detect_media_type(data, "upload", None) for kind, data in contents.items()}
    assert found == {kind: kind for kind in contents}
    assert set(MEDIA_TYPES) - set(contents) == {
        "text/markdown",
        "text/csv",
        "application/vnd.ms-excel",
        "application/vnd.ms-outlook",
    }


def test_every_extension_agrees_with_its_own_content() -> None:
    photo = samples.image("JPEG")
    for extension in MEDIA_TYPES["image/jpeg"]:
        name = "Photo" + extension.upper()
        assert detect_media_type(photo, name, "image/jpg") == "image/jpeg"
    for kind in ("text/plain", "text/markdown", "text/csv", "text/html", "message/rfc822"):
        for extension in MEDIA_TYPES[kind]:
            assert detect_media_type(b"a,b\n1,2\n", "table" + extension, None) == kind


def test_a_declared_type_may_carry_parameters() -> None:
    found = detect_media_type(samples.pdf(), "contract", "Application/PDF; charset=binary")
    assert found == "application/pdf"


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("contract.docx", None),
        ("contract.docx", "application/octet-stream"),
        ("contract.txt", None),
        ("contract.xlsx", None),
        ("contract.pdf", "text/plain"),
        ("contract.png", "application/pdf"),
    ],
)
def test_a_pdf_under_another_name(name: str, declared: str | None) -> None:
    error = expect_rejection(samples.pdf(), name, declared)
    assert error.detected_type == "application/pdf"
    assert error.claimed_type not in (None, "application/pdf")


@pytest.mark.parametrize("declared", [None, "", "*/*", "application/octet-stream", "text/plain"])
def test_text_types_are_compatible_with_each_other(declared: str | None) -> None:
    assert detect_media_type(HTML, "page.txt", declared) == "text/plain"
    assert detect_media_type(b"# Title\n", "notes.md", declared) == "text/markdown"
    assert detect_media_type(b'{"a": 1}', "data.json", declared) == "text/plain"


@pytest.mark.parametrize(
    ("data", "name", "declared", "detected"),
    [
        (b"a;b\n", "rows.csv", "application/vnd.ms-excel", "text/csv"),
        (b"a\tb\n", "rows.xls", "application/vnd.ms-excel", "text/csv"),
        (HTML, "report.xls", "application/vnd.ms-excel", "text/html"),
        (b"\xef\xbb\xbf<table><tr><td>7</table>", "report.xls", None, "text/html"),
        (workbooks.xlsx(workbooks.fill_invoice), "report.xls", None, XLSX),
        (office_files.RTF, "letter.doc", "application/msword", "application/rtf"),
        (office_files.RTF, "letter.rtf", "application/msword", "application/rtf"),
        (HTML, "page.doc", None, "text/html"),
        (samples.image("JPEG"), "photo.png", "image/png", "image/jpeg"),
    ],
)
def test_content_that_programs_write_under_another_type(
    data: bytes, name: str, declared: str | None, detected: str
) -> None:
    assert detect_media_type(data, name, declared) == detected


@pytest.mark.parametrize("name", ["book.xls", "letter.doc"])
def test_xml_of_office_2003_is_not_shown_as_text(name: str) -> None:
    expect_rejection(b'<?xml version="1.0"?><Workbook/>', name)


@pytest.mark.parametrize(
    ("data", "detected"),
    [
        (b"8BPS\x00\x01" + bytes(60), "image/vnd.adobe.photoshop"),
        (b"MZ\x90\x00" + bytes(200), "application/vnd.microsoft.portable-executable"),
        (b"%!PS-Adobe-3.0\n", "application/postscript"),
        (b"PK\x03\x04" + bytes(60), "application/zip"),
        (bytes(range(256)), None),
        (bytes(4096), None),
    ],
)
def test_the_type_of_unsupported_content_is_reported_if_known(
    data: bytes, detected: str | None
) -> None:
    for name in ("upload", "upload.txt", "upload.pdf"):
        assert expect_rejection(data, name).detected_type == detected


@pytest.mark.parametrize("name", ["slides.docx", "slides.xlsx"])
def test_office_files_with_a_wrong_extension_are_rejected(name: str) -> None:
    entries = {"[Content_Types].xml": "<Types/>", "ppt/presentation.xml": "<presentation/>"}
    error = expect_rejection(samples.build_zip(entries), name)
    assert str(error.detected_type).endswith("presentationml.presentation")


def test_a_password_protected_document_is_rejected_only_by_the_parser() -> None:
    wrapped = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(4096)
    assert detect_media_type(wrapped, "secret.docx", None) == DOCX
    expect_rejection(wrapped, "secret.doc")


def test_an_empty_file_is_what_it_claims_to_be() -> None:
    assert detect_media_type(b"", "a.pdf", None) == "application/pdf"
    assert detect_media_type(b"", "a", None) == "text/plain"
    expect_rejection(b"", "a.zip")


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252"]
)
def test_text_in_any_encoding_is_text(encoding: str) -> None:
    data = ("Straße und Fluß, Größe über alles. " * 50).encode(encoding)
    assert detect_media_type(data[:1001], "brief.txt", "text/plain") == "text/plain"


def test_a_text_that_begins_like_a_bitmap_is_text() -> None:
    text = b"BMW 320 and other cars"
    assert detect_media_type(text, "cars.txt", None) == "text/plain"
    assert expect_rejection(text, "cars.bmp").detected_type == "text/plain"


@pytest.mark.parametrize(
    ("data", "name", "declared"),
    [
        (samples.image("BMP"), "scan.bmp", "image/x-ms-bmp"),
        (samples.image("GIF"), "scan.gif", "image/gif"),
    ],
)
def test_images_by_their_other_names(data: bytes, name: str, declared: str | None) -> None:
    assert detect_media_type(data, name, declared) == detect_media_type(data, "upload", None)


def test_hostile_names() -> None:
    for name in (
        "../../etc/passwd",
        "a\x00b",
        "\u202efdp.exe",
        "x" * 300,
        "",
        ".",
        "a/b\\c.txt",
        "\ud800.md",
    ):
        assert detect_media_type(b"words", name, None) in ("text/plain", "text/markdown")


def test_the_search_for_html_takes_no_exponential_time() -> None:
    assert detect_media_type(b"<!---->" * 5000, "x", None) == "text/plain"


@given(
    head=st.binary(max_size=600),
    name=st.text(max_size=20),
    declared=st.none() | st.text(max_size=20),
)
def test_any_bytes_give_a_type_or_an_unsupported_media_type_error(
    head: bytes, name: str, declared: str | None
) -> None:
    found = None
    with suppress(UnsupportedMediaType):
        found = detect_media_type(head, name, declared)
    assert found is None or found in MEDIA_TYPES


@pytest.mark.parametrize("declared", [None, "application/mbox", "message/rfc822", "text/plain"])
def test_a_mailbox_is_mail(declared: str | None) -> None:
    box = b"From a@b.example Mon Mar  4 10:00:00 2024\nFrom: a@b.example\nSubject: x\n\nbody\n"
    assert detect_media_type(box, "archive.mbox", declared) == "message/rfc822"
    if declared != "text/plain":
        assert detect_media_type(box, "archive", declared) == "message/rfc822"
