"""Create valid and hostile documents."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import docx
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from PIL import Image, ImageDraw
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from app.engines.documents.media import COMPOUND_FILE_SIGNATURE

LINES = ("Invoice 2024-17", "Total due: 1,234.56 EUR", "Payable within thirty days.")
IMAGE_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "GIF", "BMP")
A5 = (420, 595)
W14 = 'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
LOCKED = b"".join(
    (COMPOUND_FILE_SIGNATURE, bytes(600), "EncryptedPackage".encode("utf-16-le"), bytes(600))
)
"""The beginning of an office file with a password."""


def pdf(
    pages: Sequence[Iterable[str]] = (LINES,),
    *,
    rotation: int = 0,
    size: tuple[float, float] = A5,
    password: str | None = None,
    crop: tuple[float, float, float, float] | None = None,
    draw: Callable[[Canvas], None] | None = None,
) -> bytes:
    """Return a PDF with a text layer, whose lines are on an upright page of `size` points.

    `crop` is left, bottom, right, top in points.
    """
    out = io.BytesIO()
    sideways = rotation % 180 != 0  # reportlab takes the size as displayed
    canvas = Canvas(
        out,
        size[::-1] if sideways else size,
        encrypt=StandardEncryption(password) if password else None,
    )
    for lines in pages:
        canvas.setPageRotation(rotation)
        if crop:
            canvas.setCropBox(crop)
        canvas.setFont("Helvetica", 14)
        for index, line in enumerate(lines):
            canvas.drawString(60, size[1] - 120 - 30 * index, line)
        if draw:
            draw(canvas)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def scanned_pdf(count: int = 1) -> bytes:
    """Return a PDF whose pages are images without a text layer."""
    picture = ImageReader(picture_of("Scanned"))
    return pdf([()] * count, draw=lambda canvas: canvas.drawImage(picture, 40, 300, 300, 150))


def picture_of(text: str, size: tuple[int, int] = (300, 150)) -> Image.Image:
    picture = Image.new("RGB", size, "white")
    ImageDraw.Draw(picture).text((20, 20), text, "black")
    return picture


def raw_pdf(objects: Iterable[bytes]) -> bytes:
    """Return a PDF of handwritten objects, numbered from 1; the first is the catalog."""
    out, offsets = io.BytesIO(), []
    out.write(b"%PDF-1.7\n")
    for number, body in enumerate(objects, start=1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(offsets) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % offset for offset in offsets))
    trailer = b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
    out.write(trailer % (len(offsets) + 1, start))
    return out.getvalue()


def empty_pages_pdf(count: int) -> bytes:
    kids = b" ".join(b"%d 0 R" % (number + 3) for number in range(count))
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>"
    tree = b"<</Type/Pages/Count %d/Kids[%s]>>" % (count, kids)
    return raw_pdf([b"<</Type/Catalog/Pages 2 0 R>>", tree, *([page] * count)])


def endless_pdf(levels: int = 12) -> bytes:
    """Return a PDF of 2 kB with 10 ** levels operations: each form draws the next one ten times."""
    first = 5

    def stream(number: int) -> bytes:
        content = b"/F Do " * 10 if number < first + levels - 1 else b"0 0 1 1 re f " * 10
        inner = b"/Resources<</XObject<</F %d 0 R>>>>" % (number + 1)
        head = b"<</Type/XObject/Subtype/Form/BBox[0 0 99 99]%s/Length %d>>" % (inner, len(content))
        return head + b"\nstream\n" + content + b"\nendstream"

    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R"
    return raw_pdf(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
            page + b"/Resources<</XObject<</F 5 0 R>>>>>>",
            b"<</Length 5>>\nstream\n/F Do\nendstream",
            *(stream(first + level) for level in range(levels)),
        ]
    )


def word(fill: Callable[["docx.document.Document"], None]) -> bytes:
    document = docx.Document()
    fill(document)
    return save_to_bytes(document)


def word_from_xml(*paragraphs: str) -> bytes:
    """Return a Word document with these paragraphs, whose content is given as XML."""

    def fill(document: "docx.document.Document") -> None:
        for content in reversed(paragraphs):
            xml = f"<w:p {nsdecls('w', 'm')} {W14}>{content}</w:p>"
            document.element.body.insert(0, parse_xml(xml))

    return word(fill)


def save_to_bytes(file: Any, *arguments: object, **options: object) -> bytes:
    """Return the bytes of a document, workbook, presentation or image."""
    out = io.BytesIO()
    file.save(out, *arguments, **options)
    return out.getvalue()


def build_zip(entries: Mapping[str, str | bytes]) -> bytes:
    """Return a ZIP archive of these entries, without compression."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return out.getvalue()


def swollen_docx(size: int, declared: int | None = None) -> bytes:
    """Return a Word document whose text unpacks to `size` bytes; it declares `declared` bytes."""
    plain = word(lambda document: document.add_paragraph("small"))
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(plain)) as old, zipfile.ZipFile(out, "w", 8) as new:
        for entry in old.infolist():
            if entry.filename != "word/document.xml":
                new.writestr(entry.filename, old.read(entry))
        with new.open("word/document.xml", "w") as stream:
            for _ in range(size >> 20):
                stream.write(b" " * (1 << 20))
    data = out.getvalue()
    if declared is not None:  # in the central directory, which readers believe
        name = data.rindex(b"word/document.xml")
        data = data[: name - 22] + struct.pack("<I", declared) + data[name - 18 :]
    return data


def mail(body: str = "Please find the invoice attached.", **headers: str) -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Zoë Müller <zoe@example.com>"
    message["To"] = "team@example.org"
    message["Subject"] = "Rechnung für März"
    message["Date"] = "Mon, 04 Mar 2024 10:00:00 +0100"
    for name, value in headers.items():
        message[name] = value
    message.set_content(body)
    return message


def image(kind: str, picture: Image.Image | None = None, **options: object) -> bytes:
    return save_to_bytes(picture or picture_of("Scan"), kind, **options)


def png_claiming(width: int, height: int) -> bytes:
    """Return a PNG of a few bytes whose header declares a size in pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(bytes(1 << 16)))
    return b"\x89PNG\r\n\x1a\n" + header + body + chunk(b"IEND", b"")


def stored(folder: Path, data: bytes | EmailMessage, name: str = "document") -> Path:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else bytes(data))
    return path
