"""Read a sample PDF in the fork server, so that its processes inherit the initialized libraries.

pdfium loads its fonts with the first page, and Python adapts functions to the types of their
arguments in their first calls. Both write to memory, which each process would have to copy first.
"""

from io import BytesIO

from app.engines.documents.model import Limits
from app.engines.documents.readers import pdf
from app.engines.documents.readers.pages import PageData

_PAGES = 12  # Python adapts a function after eight calls
_CONTENT = rb"""BT /F 12 Tf 20 TL 50 700 Td
(Invoice 2024-17 of 3 May 2024) Tj T* (Two caf\351s cr\350me and 12 pieces of cake) Tj T*
(Total due: ) Tj (1,234.56 EUR) Tj T* (Payable within thirty days) Tj ET"""
# pdfium finds the objects of a file without a table of their offsets.
_SAMPLE = b"""%%PDF-1.7
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Count %d/Kids[%b]>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R
/Resources<</Font<</F 5 0 R>>>>>> endobj
4 0 obj <</Length %d>> stream
%b
endstream endobj
5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>> endobj
trailer <</Root 1 0 R>>
%%%%EOF""" % (_PAGES, _PAGES * b"3 0 R ", len(_CONTENT), _CONTENT)


def read_sample() -> list[PageData]:
    """Read a document with a few equal pages with pdfium, and return the pages."""
    pages: list[PageData] = []
    pdf.read_pages(BytesIO(_SAMPLE), Limits(), pages.append)
    return pages
