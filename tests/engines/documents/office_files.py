"""Create PPTX, ODT, ODS, EPUB and RTF files."""

import datetime as dt
import io
import zipfile
from typing import Any

import odfdo
import pptx
from pptx.util import Inches

from tests.engines.documents import workbooks
from tests.engines.documents.samples import save_to_bytes

RTF = (
    r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Arial;}}{\info{\title Hidden title}}"
    r"\pard M\'fcller GmbH\par Rent: 500 \u8364?\par\u-10179?\u-8704?\par"
    r"\trowd\cellx1000\cellx2000\intbl Item\cell Price\cell\row"
    r"\trowd\cellx1000\cellx2000\intbl a|b\cell 7\cell\row\pard"
    r"{\pict\pngblip " + "89504e470d0a1a0a" * 64 + r"}The end\par}"
).encode("ascii")


def presentation(*, hidden: bool = True) -> bytes:
    """Return a presentation with text, a group, a table, notes, an empty and a hidden slide."""
    deck: Any = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[5])
    first.shapes.title.text = "Quarterly report"
    box = first.shapes.add_textbox(0, 0, Inches(3), Inches(1)).text_frame
    box.text = "Revenue rose\vby a fifth"
    box.add_paragraph().text = "Größe"
    inner = first.shapes.add_group_shape().shapes.add_textbox(0, 0, Inches(1), Inches(1))
    inner.text_frame.text = "in a group"
    table = first.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(2)).table
    for cell, value in zip(table.iter_cells(), ("Item", "Price", "Bolts\nM8", "7"), strict=True):
        cell.text = value
    first.notes_slide.notes_text_frame.text = "Do not mention the loss"
    deck.slides.add_slide(deck.slide_layouts[6])
    if hidden:
        secret = deck.slides.add_slide(deck.slide_layouts[5])
        secret.shapes.title.text = "Secret"
        secret.element.set("show", "0")
    last = deck.slides.add_slide(deck.slide_layouts[5])
    last.shapes.title.text = "Thank you"
    return save_to_bytes(deck)


def empty_presentation() -> bytes:
    """Return a presentation without slides."""
    return save_to_bytes(pptx.Presentation())


def open_document() -> bytes:
    """Return an ODT file with a heading, a table, a note, an annotation and a hidden paragraph."""
    document: Any = odfdo.Document("text")
    body = document.body
    body.clear()
    body.append(odfdo.Header(1, "Lease"))
    table = odfdo.Table("Prices")
    for values in (("Item", "Price"), ("Bolts", "7")):
        row = odfdo.Row()
        for value in values:
            row.append_cell(odfdo.Cell(text=value))
        table.append_row(row)
    body.append(table)
    paragraph = odfdo.Paragraph("The rent is due")
    paragraph.insert_note(after="rent", note_id="n1", citation="1", body="See section 2")
    paragraph.insert_annotation(after="due", body="A remark", creator="Ann")
    body.append(paragraph)
    body.append(odfdo.Paragraph("a   b\tc\nd"))
    hidden = odfdo.Style("text", name="Hidden", area="text", display="none")
    document.insert_style(hidden, automatic=True)
    body.append(odfdo.Paragraph("Not shown", style="Hidden"))
    return save_to_bytes(document)


def spreadsheet() -> bytes:
    """Return an ODS file with values of every type, repeated cells and a hidden sheet."""
    document: Any = odfdo.Document("spreadsheet")
    body = document.body
    body.clear()
    for name in ("Prices", "Secret"):
        sheet = odfdo.Table(name)
        for values in _ROWS if name == "Prices" else [["hidden"]]:
            row = odfdo.Row()
            for value in values:
                row.append_cell(odfdo.Cell(value) if value is not None else odfdo.Cell())
            sheet.append_row(row)
        body.append(sheet)
    body.get_tables()[1].style = "Hidden"
    hidden = (
        '<style:style style:name="Hidden" style:family="table">'
        '<style:table-properties table:display="false"/></style:style></office:automatic-styles>'
    )
    data = save_to_bytes(document)
    return workbooks.replace_in_entry(data, "content.xml", "</office:automatic-styles>", hidden)


_ROWS: list[list[Any]] = [
    ["Item", "Price"], ["Bolts\nM8", 7], [None, 12.5], [], [], [True, dt.date(2024, 3, 1)],
    [dt.timedelta(hours=30, minutes=5), None, None],
]  # fmt: skip
_CHAPTER = "<html xmlns='http://www.w3.org/1999/xhtml'><body><h1>{0}</h1><p>{1}</p></body></html>"
_PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf"><manifest>
<item id="b" href="text/two%20b.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="text/one.xhtml" media-type="application/xhtml+xml"/>
<item id="c" href="cover.png" media-type="image/png"/>
</manifest><spine><itemref idref="c"/><itemref idref="a"/><itemref idref="b"/>
<itemref idref="none"/></spine></package>"""


def book(*, encrypted: str = "") -> bytes:
    """Return a book with two chapters; it declares that the entry `encrypted` is encrypted."""
    entries = {
        "META-INF/container.xml": (
            "<container xmlns='urn:oasis:names:tc:opendocument:xmlns:container'><rootfiles>"
            "<rootfile full-path='OEBPS/book.opf'/></rootfiles></container>"
        ),
        "OEBPS/book.opf": _PACKAGE,
        "OEBPS/text/two b.xhtml": _CHAPTER.format("Second", "It ends."),
        "OEBPS/text/one.xhtml": _CHAPTER.format("First", "It begins in K&#246;ln."),
        "META-INF/encryption.xml": (
            "<encryption xmlns='urn:oasis:names:tc:opendocument:xmlns:container'>"
            "<x:EncryptedData xmlns:x='http://www.w3.org/2001/04/xmlenc#'><x:CipherData>"
            f"<x:CipherReference URI='{encrypted or 'OEBPS/font.otf'}'/></x:CipherData>"
            "</x:EncryptedData></encryption>"
        ),
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        for name, content in entries.items():
            archive.writestr(name, content, zipfile.ZIP_DEFLATED)
    return out.getvalue()
