"""Write contracts as DOCX, with fixed dates in the ZIP file so that the bytes do not change."""

import zipfile
from datetime import UTC, datetime
from io import BytesIO

from docx import Document
from docx.document import Document as DocxDocument
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_BREAK

from demo.documents.model import Block, Contract, Signature

WRITTEN_AT = datetime(2026, 1, 2, tzinfo=UTC)


def write_docx_contract(contract: Contract) -> bytes:
    """Return a contract as a Word document with headings, a table and a table of signatures."""
    document = Document()
    properties = document.core_properties
    properties.title, properties.author = contract.title, contract.parties[0]
    properties.created = properties.modified = WRITTEN_AT
    properties.language = contract.language
    for block in contract.blocks:
        _add_block(document, block)
    _add_signatures(document, contract.signatures)
    target = BytesIO()
    document.save(target)
    return _fix_dates(target.getvalue())


def _add_block(document: DocxDocument, block: Block) -> None:
    if block.kind == "title":
        document.add_heading(block.text, level=0).alignment = WD_ALIGN_PARAGRAPH.CENTER
    elif block.kind == "heading":
        document.add_heading(block.text, level=1)
    elif block.kind == "table":
        _add_table(document, block.rows)
    elif block.kind == "break":
        document.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
    else:
        document.add_paragraph(block.text)


def _add_table(document: DocxDocument, rows: tuple[tuple[str, ...], ...]) -> None:
    table = document.add_table(rows=len(rows), cols=len(rows[0]), style="Table Grid")
    for row, cells in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text


def _add_signatures(document: DocxDocument, signatures: tuple[Signature, ...]) -> None:
    table = document.add_table(rows=1, cols=len(signatures))
    for cell, signature in zip(table.rows[0].cells, signatures, strict=True):
        cell.paragraphs[0].add_run(signature.name or "_" * 24).italic = True
        for text in (signature.role, signature.party, signature.date):
            cell.add_paragraph(text)


def _fix_dates(content: bytes) -> bytes:
    target = BytesIO()
    with (
        zipfile.ZipFile(BytesIO(content)) as source,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as copy,
    ):
        for entry in source.infolist():
            new_entry = zipfile.ZipInfo(entry.filename, WRITTEN_AT.timetuple()[:6])
            new_entry.compress_type = zipfile.ZIP_DEFLATED
            copy.writestr(new_entry, source.read(entry))
    return target.getvalue()
