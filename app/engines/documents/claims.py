"""Compare the media type of a file's content with the types that its name and sender claim."""

import mimetypes
import re

from app.engines.documents import media
from app.engines.documents.model import UnsupportedMediaType

_TYPE_ALIASES = {
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
_TEXT_TYPE_PATTERN = re.compile(
    r"text/|application/(?:json|xml|yaml|x-yaml|sql|toml)$|.*\+(?:json|xml)$"
)
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
    """Return the media types that the extension and `declared_type` claim, in this order.

    Aliases are replaced. Unspecific types such as `application/octet-stream` are left out.
    """
    media_type = (declared_type or "").partition(";")[0].strip().lower()
    types = (_TYPES_BY_EXTENSION.get(extension, ""), media_type)
    return [_TYPE_ALIASES.get(name, name) for name in types if name not in _UNSPECIFIC_TYPES]


def check_binary_type(detected_type: str, claimed_types: list[str]) -> None:
    """Raise `UnsupportedMediaType` if a claimed type contradicts `detected_type`.

    Image types do not contradict each other; `_COMPATIBLE_TYPES` contains the other exceptions.
    """
    for claimed_type in claimed_types:
        are_images = media.IMAGE_TYPES.issuperset((claimed_type, detected_type))
        is_expected = claimed_type == detected_type or _is_saved_as(detected_type, claimed_type)
        if not are_images and not is_expected:
            raise UnsupportedMediaType(claimed_type, detected_type)


def choose_text_type(detected_type: str, claimed_types: list[str], *, is_markup: bool) -> str:
    """Return the first claimed type in `TEXT_BASED_TYPES`, or `detected_type` if there is none.

    In the latter case, plain text that is claimed to be XLS counts as CSV. Claimed types of other
    text formats, such as JSON, are allowed but not returned. A claimed type that is not text is
    allowed if programs save this content under it (`_COMPATIBLE_TYPES`), unless the content is
    plain text that begins like XML (`is_markup`). Raises `UnsupportedMediaType` for other claimed
    types.
    """
    is_plain = detected_type == media.PLAIN
    for claimed_type in claimed_types:
        is_text = claimed_type in media.TEXT_BASED_TYPES or _TEXT_TYPE_PATTERN.match(claimed_type)
        # Such XML can be an Excel 2003 workbook, which no reader supports.
        is_unsupported = is_plain and is_markup
        if not is_text and (is_unsupported or not _is_saved_as(detected_type, claimed_type)):
            raise UnsupportedMediaType(claimed_type, detected_type)
    default = media.CSV if is_plain and media.XLS in claimed_types else detected_type
    return next((name for name in claimed_types if name in media.TEXT_BASED_TYPES), default)


def _is_saved_as(detected_type: str, claimed_type: str) -> bool:
    """Return whether programs save content of `detected_type` under `claimed_type`."""
    return detected_type in _COMPATIBLE_TYPES.get(claimed_type, ())
