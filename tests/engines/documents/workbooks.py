"""Create workbooks with openpyxl and xlwt, which share no code with the reader."""

import datetime as dt
import io
import re
import zipfile
from collections.abc import Callable

import openpyxl  # type: ignore[import-untyped]
import xlwt  # type: ignore[import-untyped]

from tests.engines.documents.samples import save_to_bytes

SHEET = "xl/worksheets/sheet1.xml"


def xlsx(fill: Callable[["openpyxl.Workbook"], None]) -> bytes:
    book = openpyxl.Workbook()
    fill(book)
    return save_to_bytes(book)


def fill_invoice(book: "openpyxl.Workbook") -> None:
    """Fill a workbook with two visible sheets, an empty sheet and a hidden sheet."""
    first = book.active
    first.title = "Invoice"
    first.append(["Item", "Quantity", "Price"])
    first.append(["Größe\nXL\tblue", 3, 12.5])
    first["A6"], first["C6"] = "Due", dt.date(2024, 3, 1)
    first["A7"], first["B7"] = True, dt.timedelta(hours=30, minutes=5)
    first["C7"] = dt.datetime(2024, 3, 1, 10, 5)  # noqa: DTZ001 - cells have no zone
    book.create_sheet("Empty")
    hidden = book.create_sheet("Hidden")
    hidden["A1"], hidden.sheet_state = "secret", "hidden"
    book.create_sheet("Notes")["B2"] = "Payable within thirty days."


def xls() -> bytes:
    book = xlwt.Workbook()
    first = book.add_sheet("Rechnung")
    first.write(0, 0, "Größe")
    first.write(1, 1, 7)
    book.add_sheet("Später").write(0, 0, "Ende")
    return save_to_bytes(book)


def rewritten(data: bytes, name: str, change: Callable[[str], str]) -> bytes:
    """Return the archive with the text of one entry changed."""
    out = io.BytesIO()
    found = False
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", 8) as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename == name:
                content, found = change(content.decode()).encode(), True
            new.writestr(entry.filename, content, entry.compress_type)
    assert found, name
    return out.getvalue()


def replace_in_entry(data: bytes, name: str, old: str, new: str, count: int = -1) -> bytes:
    """Return the archive with `old` replaced by `new` in one entry."""
    return rewritten(data, name, lambda text: text.replace(old, new, count))


def with_shared_text(text: str, rows: int) -> bytes:
    """Return a workbook with ten columns, in which all cells refer to one shared string."""

    def fill(xml: str) -> str:
        head, _, rest = xml.partition("<sheetData")
        cells = (
            "".join(f'<c r="{column}{row}" t="s"><v>0</v></c>' for column in "ABCDEFGHIJ")
            for row in range(1, rows + 1)
        )
        lines = "".join(f"<row>{line}</row>" for line in cells)
        tail = rest.partition(">")[2].rpartition("</sheetData>")[2]
        return f"{head}<sheetData>{lines}</sheetData>{tail}"

    out = io.BytesIO(rewritten(xlsx(lambda book: None), SHEET, fill))
    namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    with zipfile.ZipFile(out, "a", 8) as archive:
        part = f'<sst xmlns="{namespace}"><si><t>{text}</t></si></sst>'
        archive.writestr("xl/sharedStrings.xml", part)
    return out.getvalue()


def with_entities(data: bytes, levels: int = 12) -> bytes:
    """Return the workbook with text from entities that expand to 10 ** levels words."""
    entities = '<!ENTITY e0 "lol">' + "".join(
        f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, levels + 1)
    )

    def change(xml: str) -> str:
        body = xml.partition("?>")[2] if xml.startswith("<?xml") else xml
        body, count = re.subn(r"(<t[^>]*>)[^<]+", rf"\g<1>&e{levels};", body, count=1)
        assert count == 1
        return f"<!DOCTYPE x [{entities}]>{body}"

    return rewritten(data, SHEET, change)
