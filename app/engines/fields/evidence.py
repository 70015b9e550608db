"""Validate the evidence of tags: the text offsets and page boxes of values in a document."""

from typing import Any

from app.engines.fields.errors import TagProblem, ValueProblem
from app.engines.fields.plain_text import check_text, shorten_name, to_integer
from app.engines.fields.source_text import (
    MAX_EVIDENCE_TEXT_CHARS,
    SourceText,
    describe_difference,
    is_same_text,
)
from app.engines.plurals import format_count

MAX_EVIDENCE_ITEMS = 100

_COORDINATE_COUNT = 4
_PROPERTIES = frozenset({"page", "box", "start", "end", "text"})


def check_evidence(
    raw: object, text_length: int, page_count: int, source: SourceText | None = None
) -> list[dict[str, Any]]:
    """Check evidence, and return it with all five properties; absent properties are null.

    `page` counts from 1. `box` is [x0, y0, x1, y1] from 0 to 1, measured from the top left, and
    needs a page. `start` and `end` are code point offsets into the document's text, which has
    `text_length` code points. Each entry needs a page, offsets or text. If `source` is not None,
    the `text` of an entry with offsets must equal the document's text at these offsets, and a
    missing `text` is filled in unless it is too long. Canonically equivalent Unicode text counts as
    equal, but the document's text is returned.

    Raises TagProblem if the evidence is not a list, has too many entries, or has an invalid entry.
    """
    if raw is None:
        return []
    if not isinstance(raw, list):
        raise TagProblem("", "must be a list")
    if len(raw) > MAX_EVIDENCE_ITEMS:
        raise TagProblem("", f"has more than {MAX_EVIDENCE_ITEMS} entries")
    items = []
    for position, item in enumerate(raw):
        try:
            items.append(_check_item(item, text_length, page_count, source))
        except TagProblem as problem:
            raise TagProblem(f".{position}{problem.path}", problem.message) from None
    return items


def _check_item(
    item: object, text_length: int, page_count: int, source: SourceText | None
) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise TagProblem("", "must be an object")
    if not item.keys() <= _PROPERTIES:
        unknown_name = next(name for name in item if name not in _PROPERTIES)
        raise TagProblem(f".{shorten_name(unknown_name)}", "is unknown")
    get = item.get
    page, start, end = to_integer(get("page")), to_integer(get("start")), to_integer(get("end"))
    box, text = get("box"), get("text")
    if page is not None and not (type(page) is int and 1 <= page <= page_count):
        raise TagProblem(".page", f"is not a page of the document (number of pages: {page_count})")
    if box is not None:
        box = _check_box(box)
        if page is None:
            raise TagProblem(".page", "is required with a box")
    if start is not None or end is not None:
        start, end = _check_offsets(start, end, text_length)
    if text is not None:
        text = _check_text(text)
    elif page is None and start is None:
        raise TagProblem("", "needs a page, offsets or text")
    if source is not None and start is not None and end is not None:
        text = _check_or_fill_in_text(source, start, end, text)
    return {"page": page, "box": box, "start": start, "end": end, "text": text}


def _check_or_fill_in_text(
    source: SourceText, start: int, end: int, claimed_text: str | None
) -> str | None:
    if claimed_text is None:
        return source.fill_in(start, end)
    actual_text = source.get_slice(start, end)
    if not is_same_text(claimed_text, actual_text):
        raise TagProblem(".text", describe_difference(claimed_text, actual_text))
    return actual_text


def _check_box(raw: object) -> list[float]:
    if not isinstance(raw, list) or len(raw) != _COORDINATE_COUNT:
        raise TagProblem(".box", "must be [x0, y0, x1, y1]")
    for number in raw:
        # The comparison is also False for NaN.
        if type(number) not in (float, int) or not 0 <= number <= 1:
            raise TagProblem(".box", "must contain numbers from 0 to 1")
    x0, y0, x1, y1 = raw
    if x0 >= x1 or y0 >= y1:
        raise TagProblem(".box", "must have x0 < x1 and y0 < y1")
    return [float(x0), float(y0), float(x1), float(y1)]


def _check_offsets(start: object, end: object, text_length: int) -> tuple[int, int]:
    if type(start) is not int:
        raise TagProblem(".start", "must be a whole number; start and end are required together")
    if type(end) is not int:
        raise TagProblem(".end", "must be a whole number; start and end are required together")
    if not 0 <= start < text_length:
        raise _build_outside_problem(".start", text_length)
    if end > text_length:
        raise _build_outside_problem(".end", text_length)
    if end <= start:
        raise TagProblem(".end", "must be greater than start")
    return start, end


def _build_outside_problem(path: str, text_length: int) -> TagProblem:
    count_text = format_count(text_length, "character", "characters")
    return TagProblem(path, f"is outside the text of {count_text}")


def _check_text(text: object) -> str:
    try:
        return check_text(text, MAX_EVIDENCE_TEXT_CHARS)
    except ValueProblem as problem:
        raise TagProblem(".text", problem.message) from None
