"""Parsing and rendering of files, each in a child process of its own."""

from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import orjson

from app.engines.documents import frames
from app.engines.documents.language import detect_language
from app.engines.documents.layout import check_text, flow_pages
from app.engines.documents.media import MEDIA_TYPES
from app.engines.documents.model import (
    DEFAULT_LIMITS,
    Limits,
    Page,
    PageNotFound,
    ParsedDocument,
    ParseFailed,
    Summary,
    UnsupportedMediaType,
    Word,
)
from app.engines.documents.sandbox import Child, distrusted
from app.engines.documents.text import clean

ImageFormat = Literal["png", "jpeg", "webp"]
DEFAULT_SCALE = 2.0
"""Pixels per point where `render` is told neither width nor scale."""


def parse(path: Path, media_type: str, limits: Limits = DEFAULT_LIMITS) -> ParsedDocument:
    """Read a whole document. Raises as `parse_stream`."""
    pages: list[Page] = []
    summary = parse_stream(path, media_type, limits, pages.append)
    return ParsedDocument(summary.text, pages, summary.language)


def parse_stream(
    path: Path, media_type: str, limits: Limits, on_page: Callable[[Page], None]
) -> Summary:
    """Read a document and hand over its pages one by one, in order, as they are read.

    `media_type` is what `detect` said. What `on_page` raises comes through; the time it takes
    does not count. When this raises, pages may have been handed over already. Raises
    `ParseFailed`; `UnsupportedMediaType` for a media type that is not in `MEDIA_TYPES`.
    """
    _check(media_type)
    texts: list[str] = []
    start = 0
    with Child(path, {"do": "parse", "media_type": media_type}, limits) as child:
        for kind, payload in child.frames():
            if kind == frames.TEXT:
                return _flow(payload, limits, on_page)
            page = _page(payload, len(texts) + 1, start, limits)
            texts.append(page.text)
            start = page.end + 1
            if start > limits.max_text_chars + len(texts):
                message = f"The text is longer than {limits.max_text_chars} characters."
                raise ParseFailed("too_large_unpacked", message)
            on_page(page)
    text = "\f".join(texts)
    return Summary(text, len(texts), detect_language(text))


def render(
    path: Path,
    media_type: str,
    page_number: int,
    *,
    width_px: int | None = None,
    scale: float | None = None,
    format: ImageFormat = "png",  # noqa: A002 - what an image's encoding is called everywhere
    limits: Limits = DEFAULT_LIMITS,
) -> bytes:
    """The image of one page as displayed, `width_px` pixels wide or `scale` pixels per point.

    Raises `PageNotFound`, `ParseFailed` (`too_many_pixels` when the image asked for is larger
    than `limits.max_pixels`), `UnsupportedMediaType`, and ValueError for both sizes at once or
    sizes that are not positive.
    """
    _check(media_type)
    if width_px is not None and scale is not None:
        raise ValueError("give width_px or scale, not both")
    if not (width_px is None or width_px > 0) or not (scale is None or 0 < scale < float("inf")):
        raise ValueError("the size of an image is positive")
    if width_px is None and scale is None:
        scale = DEFAULT_SCALE
    request: dict[str, object] = {
        "do": "render",
        "media_type": media_type,
        "page": page_number,
        "width_px": width_px,
        "scale": scale,
        "format": format,
    }
    with Child(path, request, limits) as child:
        for kind, payload in child.frames():
            if kind == frames.IMAGE:
                return payload
            if kind == frames.MISSING:
                raise PageNotFound(page_number, int(orjson.loads(payload)["count"]))
    raise distrusted()


def _check(media_type: str) -> None:
    if media_type not in MEDIA_TYPES:
        raise UnsupportedMediaType(media_type, None)


def _flow(payload: bytes, limits: Limits, on_page: Callable[[Page], None]) -> Summary:
    text = check_text(clean(payload.decode("utf-8", "replace")), limits)
    count = 0
    for page in flow_pages(text, limits):
        on_page(page)
        count = page.number
    return Summary(text, count, detect_language(text))


def _page(payload: bytes, number: int, start: int, limits: Limits) -> Page:
    """A page out of what the child tells, which is checked: it has read a foreign file."""
    try:
        told = orjson.loads(payload)
        text = clean(told["text"])
        starts, ends = array("q", told["starts"]), array("q", told["ends"])
        boxes = array("d", told["boxes"])
        size = float(told["width"]), float(told["height"])
        rotation, has_text_layer = int(told["rotation"]), bool(told["has_text_layer"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise distrusted() from error
    if len(starts) > limits.max_words_per_page or not _fits(len(text), starts, ends, boxes):
        raise distrusted()

    def words() -> list[Word]:
        sides = iter(boxes)
        return [
            Word(text[a:b], (x0, y0, x1, y1), start + a, start + b)
            for a, b, x0, y0, x1, y1 in zip(starts, ends, sides, sides, sides, sides, strict=True)
        ]

    return Page(
        number=number,
        width=size[0],
        height=size[1],
        rotation=rotation,
        start=start,
        text=text,
        has_text_layer=has_text_layer,
        make_words=words,
    )


def _fits(length: int, starts: "array[int]", ends: "array[int]", boxes: "array[float]") -> bool:
    """Whether the words lie inside a text of that length, and their boxes on the page."""
    if not len(starts) == len(ends) == len(boxes) / 4:
        return False
    if not starts:
        return True
    inside = min(starts) >= 0 and max(ends) <= length and min(boxes) >= 0 and max(boxes) <= 1
    return inside and all(a < b for a, b in zip(starts, ends, strict=True))
