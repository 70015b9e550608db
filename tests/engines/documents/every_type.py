"""Create valid and damaged documents of every media type, and list the demo documents."""

from PIL import Image

from app.engines.documents.media import DOCX, EPUB, MAIL, MSG, ODS, ODT, PDF, PPTX, RTF, XLS, XLSX
from demo.documents import DOCUMENTS
from tests.engines.documents import office_files, samples, workbooks


def make_documents() -> dict[str, tuple[str, bytes]]:
    """Create documents, and return the media type and content of each by name."""
    demo = {f"demo {item.name}": (item.media_type, item.render()) for item in DOCUMENTS}
    return {**_pdfs(), **_texts(), **_mails(), **_images(), **demo}


def _pdfs() -> dict[str, tuple[str, bytes]]:
    pages = [samples.LINES, ["Second page, das ist Deutsch"]]
    archives = {"docx": DOCX, "xlsx": XLSX, "pptx": PPTX, "odt": ODT, "ods": ODS, "epub": EPUB}
    return {
        **{f"{name}, damaged": (type_, b"PK\x03\x04") for name, type_ in archives.items()},
        "pdf": (PDF, samples.pdf()),
        "pdf, two pages, turned": (PDF, samples.pdf(pages, rotation=90)),
        "pdf, cropped": (PDF, samples.pdf(crop=(40, 50, 400, 580))),
        "pdf, scanned": (PDF, samples.scanned_pdf(2)),
        "pdf, empty pages": (PDF, samples.empty_pages_pdf(3)),
        "pdf with a password": (PDF, samples.pdf(password="secret")),
        "pdf, damaged": (PDF, b"%PDF-1.7 nothing"),
        "pdf, nothing": (PDF, b""),
        "docx": (DOCX, samples.word(_fill)),
        "xlsx": (XLSX, workbooks.xlsx(workbooks.fill_invoice)),
        "pptx": (PPTX, office_files.presentation()),
        "odt": (ODT, office_files.open_document()),
        "ods": (ODS, office_files.spreadsheet()),
        "epub": (EPUB, office_files.book()),
        "msg, damaged": (MSG, workbooks.xls()),
        "rtf": (RTF, office_files.RTF),
        "rtf, damaged": (RTF, b"{\\rtf"),
        "xls": (XLS, workbooks.xls()),
        "xls, damaged": (XLS, workbooks.xls()[:600]),
    }


def _fill(document: "samples.docx.document.Document") -> None:
    document.add_heading("Agreement")
    document.add_paragraph("This agreement is made between the parties below.")
    table = document.add_table(2, 2)
    table.cell(0, 0).text = "Party"


def _texts() -> dict[str, tuple[str, bytes]]:
    russian = "<html><meta charset=windows-1251><p>Привет мир, как дела сегодня</p>"
    return {
        "cp1252": ("text/plain", "Größe und Länge, schöne Grüße aus München".encode("cp1252")),
        "cp932": (
            "text/plain",
            "東京都は日本の首都です。今日は天気がいいですね。\n".encode("cp932") * 3,
        ),
        "utf-16": ("text/plain", "中文 한국어 ไทย हिन्दी עברית مرحبا Ωμέγα\n".encode("utf-16")),
        "every byte": ("text/plain", bytes(range(1, 256)) * 4),
        "csv": ("text/csv", b"a,b\r\n1,2\r\n"),
        "markdown": ("text/markdown", b"# Title\n\ntext"),
        "html": ("text/html", russian.encode("cp1251")),
        "html, entities": ("text/html", b"<p>&#0;Hello &nbsp; <a href='http://x/'>x</a>"),
    }


def _mails() -> dict[str, tuple[str, bytes]]:
    rich = samples.mail()
    rich.add_alternative("<p>Please <b>pay</b></p>", subtype="html")
    rich.add_attachment(b"123", maintype="application", subtype="pdf", filename="Rechnung ä.pdf")
    rich.add_attachment(samples.mail())
    odd = (
        b"Subject: =?koi8-r?B?8NLJ18XU?=\r\nContent-Type: text/plain; charset=no-such\r\n"
        b"Content-Transfer-Encoding: quoted-printable\r\n\r\na=E4bc"
    )
    korean = b"Subject: x\r\nContent-Type: text/plain; charset=iso-2022-kr\r\n\r\nabc"
    return {
        "mail": (MAIL, bytes(samples.mail())),
        "mail with attachments": (MAIL, bytes(rich)),
        "mail of an unknown charset": (MAIL, odd),
        "mail of a rare charset": (MAIL, korean),
    }


def _images() -> dict[str, tuple[str, bytes]]:
    turned = Image.Exif()
    turned[0x0112] = 6
    red = Image.new("RGB", (200, 100), "red")
    frames = {"save_all": True, "append_images": [Image.new("L", (9, 9))]}
    return {
        **{name: (f"image/{name.lower()}", samples.image(name)) for name in samples.IMAGE_FORMATS},
        "cmyk": ("image/tiff", samples.image("TIFF", Image.new("CMYK", (50, 50)))),
        "two frames": ("image/tiff", samples.image("TIFF", red, **frames)),
        "turned": ("image/jpeg", samples.image("JPEG", red, exif=turned, dpi=(300, 300))),
        "sixteen bits": ("image/tiff", samples.image("TIFF", Image.new("I;16", (9, 9), 0x8000))),
        "transparent": ("image/png", samples.image("PNG", Image.new("RGBA", (9, 9)))),
        "damaged image": ("image/png", samples.png_claiming(500, 500)),
        "image bomb": ("image/png", samples.png_claiming(50_000, 50_000)),
    }
