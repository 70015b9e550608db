"""Parse documents, and get the errors of documents that cannot be parsed."""

import io
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any, ParamSpec

import pytest
from PIL import Image

from app.engines.documents import Limits, ParsedDocument, ParseFailed, parse, render
from app.engines.documents.detection import detect_media_type
from app.engines.documents.model import UnsupportedMediaType
from tests.engines.documents.samples import stored

P = ParamSpec("P")


def parse_data(
    folder: Path, data: bytes | EmailMessage, media_type: str, **limits: int
) -> ParsedDocument:
    """Store a document in the folder, and parse it."""
    return parse(stored(folder, data), media_type, Limits(**limits))


def get_failure(call: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> ParseFailed:
    """Call a function that cannot read its document, and return the error that it raises."""
    with pytest.raises(ParseFailed) as caught:
        call(*args, **kwargs)
    return caught.value


def get_parse_failure(folder: Path, data: bytes, media_type: str, **limits: int) -> ParseFailed:
    """Store a document that cannot be parsed, and return the error."""
    return get_failure(parse_data, folder, data, media_type, **limits)


def get_text_or_failure(folder: Path, data: bytes, media_type: str) -> str:
    """Return the text of a document, or the code of the error if it cannot be parsed."""
    try:
        return parse_data(folder, data, media_type).text
    except ParseFailed as error:
        return error.code


def expect_rejection(data: bytes, name: str, declared: str | None = None) -> UnsupportedMediaType:
    """Check that detection rejects a file, and return the error."""
    with pytest.raises(UnsupportedMediaType) as caught:
        detect_media_type(data, name, declared)
    return caught.value


def render_image(path: Path, media_type: str, number: int, **options: Any) -> Image.Image:
    """Render a page, and open its image. `options` are those of `render`."""
    return Image.open(io.BytesIO(render(path, media_type, number, **options)))
