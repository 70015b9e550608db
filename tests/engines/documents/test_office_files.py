"""Presentations, ODT and RTF files: the displayed text in order, and damaged files."""

import re
from pathlib import Path

import pytest

from app.engines.documents import parse, render
from app.engines.documents.detection import detect_media_type
from app.engines.documents.media import COMPOUND_FILE_SIGNATURE, ODS, ODT, PPTX, RTF
from tests.engines.documents import office_files, samples, workbooks
from tests.engines.documents.parsing import expect_rejection, get_parse_failure, parse_data


def text_of(folder: Path, data: bytes, media_type: str) -> str:
    return parse_data(folder, data, media_type).text


def open_document_with(content: str) -> bytes:
    """Return an ODT file whose text ends with this content, which is given as XML."""
    end = "</office:text>"
    return workbooks.replace_in_entry(
        office_files.open_document(), "content.xml", end, content + end
    )


def test_each_visible_slide_is_a_page(tmp_path: Path) -> None:
    path = samples.stored(tmp_path, office_files.presentation())
    document = parse(path, PPTX)
    first, second, third = document.text.split("\f")
    assert first == (
        "Quarterly report\nRevenue rose\nby a fifth\nGröße\nin a group\nItem\tPrice\nBolts M8\t7"
    )
    assert (second, third) == ("", "Thank you")
    assert [page.text.strip("\f") for page in document.pages] == [first, second, third]
    assert render(path, PPTX, 3, width_px=300).startswith(b"\x89PNG")


def test_a_shape_with_an_equation(tmp_path: Path) -> None:
    equation = (
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        '<mc:Choice Requires="a14"><p:sp><p:nvSpPr><p:cNvPr id="9" name="x"/><p:cNvSpPr/><p:nvPr/>'
        "</p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>We know </a:t></a:r><a14:m "
        'xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main"><m:oMath '
        'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:r><m:t>x=1</m:t>'
        "</m:r></m:oMath></a14:m><a:r><a:t> now</a:t></a:r></a:p></p:txBody></p:sp></mc:Choice>"
        "<mc:Fallback/></mc:AlternateContent></p:spTree>"
    )
    deck = office_files.presentation()
    data = workbooks.replace_in_entry(deck, "ppt/slides/slide2.xml", "</p:spTree>", equation)
    assert text_of(tmp_path, data, PPTX).split("\f")[1] == "We know x=1 now"


def test_hidden_shapes_are_left_out(tmp_path: Path) -> None:
    data = workbooks.rewritten(
        office_files.presentation(),
        "ppt/slides/slide1.xml",
        lambda xml: re.sub(
            r'(<p:cNvPr id="\d+" name="(?:TextBox|Group) [^"]*")', r'\1 hidden="1"', xml
        ),
    )
    text = text_of(tmp_path, data, PPTX).split("\f")[0]
    assert text == "Quarterly report\nItem\tPrice\nBolts M8\t7"


def test_a_presentation_without_text(tmp_path: Path) -> None:
    data = office_files.empty_presentation()
    assert get_parse_failure(tmp_path, data, PPTX).code == "empty_document"


def test_an_open_document(tmp_path: Path) -> None:
    assert text_of(tmp_path, office_files.open_document(), ODT) == (
        "1. Lease\nItem\tPrice\nBolts\t7\nThe rent\nSee section 2\n is due\na   b\tc\nd"
    )


def test_parts_of_an_open_document(tmp_path: Path) -> None:
    tracked = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>deleted</text:p>"
        "</text:deletion></text:changed-region></text:tracked-changes>"
        '<text:section text:display="none"><text:p>hidden section</text:p></text:section>'
        '<text:section text:is-hidden="true"><text:p>hidden section</text:p></text:section>'
        '<text:p>hidden paragraph<text:hidden-paragraph text:is-hidden="true"/></text:p>'
        '<text:section><text:list><text:list-item><text:p>one<text:s text:c="4000000000"/>two'
        "</text:p></text:list-item></text:list></text:section>"
        "<table:table><table:table-header-rows><table:table-row><table:table-cell table:number-"
        'columns-repeated="100000"><text:p>x</text:p></table:table-cell></table:table-row>'
        "</table:table-header-rows></table:table>"
    )
    text = text_of(tmp_path, open_document_with(tracked), ODT)
    assert text.endswith("d\n" + "one" + " " * 100 + "two\nx")
    assert not any(word in text for word in ("deleted", "hidden"))
    headed = workbooks.replace_in_entry(
        office_files.open_document(),
        "styles.xml",
        "</office:master-styles>",
        '<style:master-page style:name="M"><style:header><text:p>Top</text:p></style:header>'
        "<style:footer><text:p>Bottom</text:p></style:footer><style:footer-left "
        'style:display="false"><text:p>Off</text:p></style:footer-left></style:master-page>'
        "</office:master-styles>",
    )
    text = text_of(tmp_path, headed, ODT)
    assert text.startswith("Top\n1. Lease\n")
    assert text.endswith("\nBottom")


CELL = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>"
COVERED = "<table:covered-table-cell/>"
SPANS = " table:number-columns-spanned='2' table:number-rows-spanned='2'"
ROW_WITH_SPANS = (
    f"<table:table-row>{CELL.format(SPANS, 'A')}{COVERED}{CELL.format('', 'B')}</table:table-row>"
)
ROW_BELOW_SPANS = f"<table:table-row>{COVERED}{COVERED}{CELL.format('', 'C')}</table:table-row>"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "<text:p>a <draw:frame><draw:image/><svg:title>no</svg:title></draw:frame>b</text:p>",
            "a b",
        ),
        ("<text:p>two\n\t words,<text:span>\n one</text:span></text:p>", "two words, one"),
        (f"<table:table>{ROW_WITH_SPANS}{ROW_BELOW_SPANS}</table:table>", "A\tB\n\t\tC"),
    ],
)
def test_contents_of_an_open_document(tmp_path: Path, content: str, expected: str) -> None:
    text = text_of(tmp_path, open_document_with(f"<text:p>#</text:p>{content}"), ODT)
    assert text.partition("#\n")[2] == expected


def test_rich_text(tmp_path: Path) -> None:
    assert text_of(tmp_path, office_files.RTF, RTF) == (
        "Müller GmbH\nRent: 500 €\n😀\nItem\tPrice\na|b\t7\nThe end"
    )


def test_hidden_and_deleted_runs_of_rich_text(tmp_path: Path) -> None:
    data = (
        rb"{\rtf1\ansi a{\v no}b{\rtlch\fcs1 \ltrch\v\f0 no \'e4 \{x\}}c{\v0 shown}{\deleted no}"
        rb"\pard{\f0\v no}d\par}"
    )
    assert text_of(tmp_path, data, RTF) == "abcshownd"


def test_notes_headers_links_and_text_boxes_of_rich_text(tmp_path: Path) -> None:
    data = (
        rb"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Arial;}}{\header\pard Acme\par}"
        rb"{\footerl \pard Page {\field{\*\fldinst PAGE}{\fldrslt 1}}\par}{\headerf \pard Acme\par}"
        rb"The rent{\super\chftn{\footnote\pard\plain {\super\chftn} See \'fc section 2}} is due. "
        rb'See {\field{\*\fldinst{HYPERLINK "http://a.example/"}}{\fldrslt{our new site}}}.\par '
        rb"Before{\shp{\*\shpinst\shpleft1{\sp{\sn shapeType}{\sv 202}}{\shptxt \pard Boxed\par}}"
        rb"{\shprslt{\*\do\dptxbx{\dptxbxtext\pard Boxed\par}}}}after\par}"
    )
    assert text_of(tmp_path, data, RTF) == (
        "Acme\nThe rent is due. See our new site.\nBefore\nBoxed\nafter\nSee ü section 2\nPage 1"
    )


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        (
            r"{\listtext\pard\plain\ltrpar \rtlch\fcs1 \af0 \ltrch\fcs0 \loch\f1 2.1\tab}",
            "2.1 Term",
        ),
        (r"{\listtext\pard\plain \'a7 7\tab}", "§ 7 Term"),
        (r"{\listtext{\f0 (a)}{\tab}}", "(a) Term"),
        (r"{\pntext\f0 3\tab}", "3 Term"),
        (r"{\pntext\f1\'b7\tab}", "Term"),
        (r"{\listtext\pard\plain\f2 o\tab}", "Term"),
        (r"{\listtext\pard\plain\f3 \u-3913\'b7\tab}", "Term"),
        (r"{\listtext\tab}", "Term"),
    ],
)
def test_numbers_of_lists_in_rich_text(tmp_path: Path, mark: str, expected: str) -> None:
    data = rf"{{\rtf1\ansi\ansicpg1252 Lease\par {mark}Term\par}}".encode()
    assert text_of(tmp_path, data, RTF) == f"Lease\n{expected}"


def test_paragraphs_inside_cells_of_rich_text_are_on_one_line(tmp_path: Path) -> None:
    row = (
        r"\trowd\cellx1\cellx2\pard\intbl {\b Zo\'eb\b0\par}{\listtext\pard 1.\tab}Street\line 7"
        r"\cell{total\par due}\cell{\trowd\cellx1\cellx2\row}"
    )
    data = rf"{{\rtf1\ansi\ansicpg1252 a\par {row}{row}\pard b\par c\par}}".encode()
    line = "Zoë 1. Street 7\ttotal due"
    assert text_of(tmp_path, data, RTF) == f"a\n{line}\n{line}\nb\nc"


def test_an_image_in_rich_text_takes_no_time(tmp_path: Path) -> None:
    digits = b"89504e470d0a1a0a" * 8 + b"\r\n"
    data = b"{\\rtf1 Before{\\pict\\pngblip\r\n" + digits * 60_000 + b"}after\\par}"
    assert text_of(tmp_path, data, RTF) == "Beforeafter"


def test_an_entity_is_not_read(tmp_path: Path) -> None:
    secret = '<!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]>'
    data = workbooks.rewritten(
        office_files.open_document(),
        "content.xml",
        lambda xml: (
            secret + xml[xml.index("<office:document-content") :].replace("Lease", "&secret;")
        ),
    )
    text = text_of(tmp_path, data, ODT)
    assert "root" not in text
    assert "The rent" in text


@pytest.mark.parametrize("media_type", [PPTX, ODT, RTF])
def test_damaged_files(tmp_path: Path, media_type: str) -> None:
    assert get_parse_failure(tmp_path, b"PK\x03\x04", media_type).code == "unreadable"
    assert get_parse_failure(tmp_path, b"", media_type).code == "empty_document"
    whole = {PPTX: office_files.presentation(), ODT: office_files.open_document()}.get(media_type)
    if whole is not None:
        half = whole[: len(whole) // 2]
        assert get_parse_failure(tmp_path, half, media_type).code == "unreadable"
        error = get_parse_failure(tmp_path, whole, media_type, max_unpacked_bytes=1000)
        assert error.code == "too_large_unpacked"


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    word = samples.word(lambda document: document.add_paragraph("Hello"))
    assert get_parse_failure(tmp_path, word, PPTX).code == "unreadable"
    assert get_parse_failure(tmp_path, word, ODT).code == "unreadable"


def test_files_with_a_password(tmp_path: Path) -> None:
    assert get_parse_failure(tmp_path, samples.LOCKED, PPTX).code == "password_protected"
    error = get_parse_failure(tmp_path, COMPOUND_FILE_SIGNATURE + bytes(600), PPTX)
    assert error.message.startswith("The file has an older")
    manifest = "<manifest:manifest><manifest:encryption-data/>"
    encrypted = workbooks.rewritten(
        office_files.open_document(), "META-INF/manifest.xml", lambda _: manifest
    )
    assert get_parse_failure(tmp_path, encrypted, ODT).code == "password_protected"


@pytest.mark.parametrize("depth", [200, 100_000])
def test_deep_nesting(tmp_path: Path, depth: int) -> None:
    nested = "<text:section>" * depth + "<text:p>deep</text:p>" + "</text:section>" * depth
    data = open_document_with(nested)
    if depth == 200:
        assert text_of(tmp_path, data, ODT).endswith("deep")
    else:
        assert get_parse_failure(tmp_path, data, ODT).code == "unreadable"
    groups = b"{\\rtf1 " + b"{" * depth + b"deep" + b"}" * depth + b"}"
    assert text_of(tmp_path, groups, RTF) == "deep"


def test_media_types() -> None:
    deck, text = office_files.presentation(), office_files.open_document()
    assert detect_media_type(deck, "upload", None) == PPTX
    assert detect_media_type(text, "upload", None) == ODT
    assert detect_media_type(office_files.RTF, "upload", None) == RTF
    assert detect_media_type(office_files.RTF, "letter.rtf", "text/rtf") == RTF
    assert detect_media_type(COMPOUND_FILE_SIGNATURE + bytes(600), "deck.pptx", None) == PPTX
    for data, name in ((deck, "a.docx"), (text, "a.docx"), (office_files.RTF, "a.txt")):
        expect_rejection(data, name)
    sheet = samples.build_zip({"mimetype": ODS})
    assert expect_rejection(sheet, "a.odt").detected_type == ODS
