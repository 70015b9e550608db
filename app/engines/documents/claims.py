"""Compare the media type of a file's content with its file name and its declared type."""

import mimetypes
import re

from app.engines.documents import media
from app.engines.documents.model import UnsupportedMediaType

_ALIASES = {
    "application/x-pdf": media.PDF,
    "application/xhtml+xml": media.HTML,
    "text/rtf": media.RTF,
    "application/x-rtf": media.RTF,
    "image/jpg": media.JPEG,
    "image/pjpeg": media.JPEG,
    "image/tif": media.TIFF,
    "image/x-png": media.PNG,
    "image/x-bmp": media.BMP,
    "image/x-ms-bmp": media.BMP,
    "image/heif": media.HEIC,
    "application/mbox": media.MAIL,
    "text/x-markdown": media.MARKDOWN,
    "application/csv": media.CSV,
}
_UNSPECIFIC_TYPES = {
    "",
    "*/*",
    "application/octet-stream",
    "binary/octet-stream",
    "application/x-download",
    "application/force-download",
    "application/unknown",
}
_TEXT_LIKE = re.compile(r"text/|application/(?:json|xml|yaml|x-yaml|sql|toml)$|.*\+(?:json|xml)$")
# Python's built-in table with additions, so that the result does not depend on the machine.
_TYPES_BY_EXTENSION = mimetypes.MimeTypes().types_map[True] | {
    ".docm": "application/vnd.ms-word.document.macroenabled.12",
    ".xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
    ".xlsb": "application/vnd.ms-excel.sheet.binary.macroenabled.12",
    **{
        extension: media_type
        for media_type, extensions in media.MEDIA_TYPES.items()
        for extension in extensions
    },
}


_DOC, _PPT = _TYPES_BY_EXTENSION[".doc"], _TYPES_BY_EXTENSION[".ppt"]
# For each claimed type, the other types of content that programs save under it and that Office
# opens. Browsers on Windows declare RTF as Word and CSV as Excel.
_COMPATIBLE_TYPES = {
    _DOC: {media.RTF, media.DOCX, media.HTML, media.MAIL},
    _PPT: {media.PPTX},
    media.XLS: {media.XLSX, media.HTML, media.MAIL, media.PLAIN},
}


def list_claimed_types(extension: str, declared_type: str | None) -> list[str]:
    """Return the specific media types that the extension and `declared_type` claim, if any."""
    media_type = (declared_type or "").partition(";")[0].strip().lower()
    claims = (_TYPES_BY_EXTENSION.get(extension, ""), media_type)
    return [_ALIASES.get(claim, claim) for claim in claims if claim not in _UNSPECIFIC_TYPES]


def check_binary_type(detected_type: str, claims: list[str]) -> None:
    """Raise `UnsupportedMediaType` if a claim contradicts the type of the content."""
    for claim in claims:
        is_image = claim in media.IMAGE_TYPES and detected_type in media.IMAGE_TYPES
        if claim != detected_type and not is_image and not _is_saved_as(detected_type, claim):
            raise UnsupportedMediaType(claim, detected_type)


def choose_text_type(detected_type: str, claims: list[str], *, is_markup: bool) -> str:
    """Return the first text-based type in `claims`, or `detected_type` if there is none.

    Plain text that is claimed to be XLS counts as CSV. `is_markup` is true if the text begins like
    XML. Raises `UnsupportedMediaType` if a claim is neither a text type nor a type under which
    programs save this content. Plain text that begins like XML is rejected under any claim that is
    not a text type.
    """
    for claim in claims:
        is_text = claim in media.TEXT_BASED_TYPES or _TEXT_LIKE.match(claim)
        # Such XML can be an Excel 2003 workbook, which no reader supports.
        is_unsupported = detected_type == media.PLAIN and is_markup
        if not is_text and (is_unsupported or not _is_saved_as(detected_type, claim)):
            raise UnsupportedMediaType(claim, detected_type)
    default = media.CSV if detected_type == media.PLAIN and media.XLS in claims else detected_type
    return next((claim for claim in claims if claim in media.TEXT_BASED_TYPES), default)


def _is_saved_as(detected_type: str, claim: str) -> bool:
    return detected_type in _COMPATIBLE_TYPES.get(claim, ())
