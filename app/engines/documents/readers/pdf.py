"""PDF through pdfium: the text layer with boxes, and page images.

Form fields and typed-over text are part of the page as displayed, so they are merged into it
before it is read or drawn.
"""

import ctypes
import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import pypdfium2 as pdfium  # type: ignore[import-untyped]
from pypdfium2 import raw

from app.engines.documents.model import Limits, PageNotFound, ParseFailed
from app.engines.documents.readers.sizes import pixels
from app.engines.documents.text import WORD, clean

if TYPE_CHECKING:
    from PIL import Image

# pdfium's sign for a hyphen at which it has joined two lines; the line end itself is gone.
_HYPHEN = "\x02"
_TOKEN = re.compile(WORD.pattern.replace(r"[^\s", rf"[^\s{_HYPHEN}") + f"{_HYPHEN}?")
_SURROGATE = re.compile("[\ud800-\udfff]")
# First character, last + 1 (pdfium's count), start, end (in the text).
_Token = tuple[int, int, int, int]
_MERGED = (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP)
_MOST_ANNOTATIONS = 10_000
# Room for what smoothing adds around a glyph, in points.
_MARGIN = 0.5


def read(file: BinaryIO, limits: Limits, send: Callable[[dict[str, object]], None]) -> None:
    """Send each page. Raises `ParseFailed`."""
    document = _open(file)
    count = len(document)
    if count == 0:
        raise ParseFailed("empty_document", "The document has no pages.")
    if count > limits.max_pages:
        message = f"The document has {count} pages; at most {limits.max_pages} are read."
        raise ParseFailed("too_many_pages", message)
    for index in range(count):
        page = _load(document, index)
        send(_page(page, limits))
        page.close()


def render(
    file: BinaryIO, number: int, width_px: int | None, scale: float | None, limits: Limits
) -> "Image.Image":
    """Draw one page, turned as it is displayed. Raises `PageNotFound`, `ParseFailed`."""
    document = _open(file)
    if not 1 <= number <= len(document):
        raise PageNotFound(number, len(document))
    page = _load(document, number - 1)
    size = pixels(page.get_width(), page.get_height(), width_px, scale, limits)
    bitmap = pdfium.PdfBitmap.new_native(*size, raw.FPDFBitmap_BGRx)
    bitmap.fill_rect((255, 255, 255, 255), 0, 0, *size)
    raw.FPDF_RenderPageBitmap(bitmap, page, 0, 0, *size, 0, raw.FPDF_ANNOT)
    picture: Image.Image = bitmap.to_pil().convert("RGB")
    return picture


def _open(file: BinaryIO) -> Any:
    try:
        document = pdfium.PdfDocument(file)
        document.init_forms()
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", None) in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            message = "The document is protected by a password."
            raise ParseFailed("password_protected", message) from error
        raise ParseFailed("unreadable", "The file is damaged or not a PDF.") from error
    return document


def _load(document: Any, index: int) -> Any:
    try:
        page = document[index]
        if _has_merged(page) and raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == (
            raw.FLATTEN_SUCCESS
        ):
            page.close()
            page = document[index]
    except pdfium.PdfiumError as error:
        raise ParseFailed("unreadable", f"Page {index + 1} is damaged.") from error
    return page


def _has_merged(page: Any) -> bool:
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST_ANNOTATIONS)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        kind = raw.FPDFAnnot_GetSubtype(annotation) if annotation else None
        raw.FPDFPage_CloseAnnot(annotation)
        if kind in _MERGED:
            return True
    return False


def _page(page: Any, limits: Limits) -> dict[str, object]:
    width, height = page.get_size()
    text = ""
    tokens: list[_Token] = []
    boxes: list[float] = []
    layer = page.get_textpage()
    count = layer.count_chars()
    if count > limits.max_text_chars:
        message = f"A page has more than {limits.max_text_chars} characters."
        raise ParseFailed("too_large_unpacked", message)
    if count > 0:
        text, tokens = _assemble("".join(_characters(layer, count)))
        if len(tokens) > limits.max_words_per_page:
            message = f"A page has more than {limits.max_words_per_page} words."
            raise ParseFailed("too_large_unpacked", message)
        boxes = _boxes(page, layer, tokens)
    layer.close()
    return {
        "width": round(width, 3),
        "height": round(height, 3),
        "rotation": page.get_rotation(),
        "text": text,
        "has_text_layer": bool(tokens),
        "starts": [token[2] for token in tokens],
        "ends": [token[3] for token in tokens],
        "boxes": boxes,
    }


def _characters(layer: Any, count: int) -> Iterator[str]:
    code_of = raw.FPDFText_GetUnicode
    for index in range(count):
        code = code_of(layer, index)
        yield chr(code) if code <= sys.maxunicode else "\ufffd"


def _assemble(characters: str) -> tuple[str, list[_Token]]:
    """The page's text, and its words as (first character, last + 1, start, end in the text).

    Characters are pdfium's, one per index; the text has "\\n" for line ends, "-\\n" for joined
    hyphens and whole code points for surrogate pairs, so the two counts part.
    """
    wide = _SURROGATE.search(characters) is not None
    pieces: list[str] = []
    tokens: list[_Token] = []
    length = last = 0
    for match in _TOKEN.finditer(characters):
        first, end = match.span()
        gap = _gap(characters[last:first])
        word = match.group()
        broken = word.endswith(_HYPHEN)
        if broken:
            word = word[:-1] + "-"
        if wide:
            word = word.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        word = clean(word)
        start = length + len(gap)
        pieces += (gap, word, "\n") if broken else (gap, word)
        tokens.append((first, end, start, start + len(word)))
        length, last = start + len(word) + broken, end
    pieces.append(_gap(characters[last:]))
    return "".join(pieces), tokens


def _gap(between: str) -> str:
    if between in ("", " ", "\r\n"):
        return "\n" if between == "\r\n" else between
    between = between.replace("\r\n", "\n").replace(_HYPHEN, "\n")
    return re.sub(r"[\r\v\f\x1c-\x1f\x85\u2028\u2029]", "\n", between)


def _boxes(page: Any, layer: Any, tokens: list[_Token]) -> list[float]:
    """x0, y0, x1, y1 of each word, one after the other, as the page is displayed."""
    place = _placing(page)
    left, top, right, bottom = (ctypes.c_double() for _ in range(4))
    where = [ctypes.byref(side) for side in (left, top, right, bottom)]
    count_of, rectangle_of = raw.FPDFText_CountRects, raw.FPDFText_GetRect
    boxes: list[float] = []
    for first, end, *_ in tokens:
        x0 = y0 = float("inf")
        x1 = y1 = float("-inf")
        for index in range(count_of(layer, first, end - first)):
            if rectangle_of(layer, index, *where):
                x0, x1 = min(x0, left.value), max(x1, right.value)
                y0, y1 = min(y0, bottom.value), max(y1, top.value)
        boxes += place(x0, y0, x1, y1) if x0 <= x1 and y0 <= y1 else (0.0, 0.0, 0.0, 0.0)
    return boxes


def _placing(page: Any) -> Callable[[float, float, float, float], list[float]]:
    """From a rectangle in user space (PDF 1.7, 8.3.2.3) to the displayed page, 0..1."""
    page_left, page_bottom, page_right, page_top = page.get_bbox()
    width, height = page_right - page_left, page_top - page_bottom
    turns = page.get_rotation() // 90

    def place(x0: float, y0: float, x1: float, y1: float) -> list[float]:
        a, c = (x0 - _MARGIN - page_left) / width, (x1 + _MARGIN - page_left) / width
        b, d = (page_top - y1 - _MARGIN) / height, (page_top - y0 + _MARGIN) / height
        for _ in range(turns):  # a quarter clockwise each
            a, b, c, d = 1 - d, a, 1 - b, c
        return [round(min(1.0, max(0.0, side)), 5) for side in (a, b, c, d)]

    return place
