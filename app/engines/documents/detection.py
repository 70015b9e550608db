"""Detect the media type of a document by its content."""

import codecs
import re
import zlib
from pathlib import PurePosixPath

from app.engines.documents import media
from app.engines.documents.claims import check_binary_type, choose_text_type, list_claimed_types
from app.engines.documents.model import UnsupportedMediaType
from app.engines.documents.text import detect_bom, detect_utf16_without_bom

HEAD_BYTES = 1 << 16
"""The number of leading bytes of a file that `detect_media_type` uses."""

_IMAGE_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": media.PNG,
    b"\xff\xd8\xff": media.JPEG,
    b"II*\0": media.TIFF,
    b"MM\0*": media.TIFF,
    b"II+\0": media.TIFF,  # BigTIFF
    b"MM\0+": media.TIFF,
    b"GIF87a": media.GIF,
    b"GIF89a": media.GIF,
}
# ISO/IEC 23008-12, annex B: files with HEVC images, including files that also have an image
# sequence. The box's length and type precede the major brand, a version and compatible brands.
_HEIC = re.compile(rb".{4}ftyp(?:hei[cmsx]|(?:mif1|msf1).{4}(?:.{4}){0,8}?hei[cmsx])", re.DOTALL)
# The possible lengths of a BMP's second header. The length follows "BM" and three other numbers.
_BMP_HEADER_LENGTHS = {12, 16, 40, 52, 56, 64, 108, 124}
_BMP_LENGTH_OFFSET = 14
_ZIP_ENTRY = re.compile(rb"PK\x03\x04.{22}(..)(..)", re.DOTALL)
_ZIP_FOLDERS = {b"word/": media.DOCX, b"xl/": media.XLSX, b"ppt/": media.PPTX}
_OFFICE_TYPES = tuple(_ZIP_FOLDERS.values())
_MIMETYPE_ENTRY = b"mimetype"
_FIRST_ENTRY_TYPE = re.compile(rb"application/(?:vnd\.oasis\.opendocument\.[a-z-]+|epub\+zip)")
_WORD_MAIN_PART = b"wordprocessingml.document.main+xml"
_CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_HTML = re.compile(
    r"\s*(?:<!--(?:(?!-->).)*-->\s*|<\?xml[^>]*>\s*)*<(?:!doctype\s+html|html|head|body|meta|style|table)\b",
    re.DOTALL,
)
_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*<")
_HEADER_FIELD = re.compile(r"([!-9;-~]+):[ \t]?")
_MAIL_FIELDS = {
    "bcc", "cc", "content-type", "date", "delivered-to", "from", "message-id", "mime-version",
    "received", "reply-to", "return-path", "sender", "subject", "to",
}  # fmt: skip
_MIN_MAIL_FIELDS = 2


def detect_media_type(head: bytes, name: str, declared_type: str | None) -> str:
    """Detect the media type of a document by its content, and check the claimed types.

    `head` is the first `HEAD_BYTES` bytes of the file; `name` is the file name, of which only the
    extension is used; `declared_type` is the media type that the sender declares, if any.

    The claimed types are those of the extension and of `declared_type`, in this order, without
    types such as `application/octet-stream`. If the content is text, `choose_text_type` chooses its
    type. An empty file has the first supported claimed type, or is plain text if none is claimed.

    Raises `UnsupportedMediaType` if the type of the content is not supported, if a claimed type
    contradicts the content (see `check_binary_type` and `choose_text_type`), or if an empty file
    has only unsupported claimed types.
    """
    extension = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    claimed_types = list_claimed_types(extension, declared_type)
    if not head:
        supported_type = next((name for name in claimed_types if name in media.MEDIA_TYPES), None)
        if claimed_types and supported_type is None:
            raise UnsupportedMediaType(claimed_types[0], None)
        return supported_type or media.PLAIN
    binary_type = _detect_binary_type(head, claimed_types)
    detected_type = binary_type or _detect_text_type(head)
    if detected_type is None or detected_type not in media.MEDIA_TYPES:
        claimed_type = claimed_types[0] if claimed_types else None
        raise UnsupportedMediaType(claimed_type, detected_type or _guess_type(head))
    if binary_type is None:
        is_markup = _MARKUP.match(head) is not None
        return choose_text_type(detected_type, claimed_types, is_markup=is_markup)
    check_binary_type(detected_type, claimed_types)
    return detected_type


def _detect_binary_type(head: bytes, claimed_types: list[str]) -> str | None:
    """Return the media type that a known signature indicates, or None.

    If the signature allows several types, returns the first of them in `claimed_types`. If no such
    type is claimed, returns None for a compound file (the format of older Office files), and
    `application/zip` for a ZIP archive.
    """
    if b"%PDF-" in head[:1024]:  # may follow other bytes (PDF 1.7, appendix H.3)
        return media.PDF
    if image_type := _detect_image_type(head):
        return image_type
    if head.startswith(b"PK\x03\x04"):
        return _detect_zip_type(head, claimed_types)
    if head.startswith(media.COMPOUND_FILE_SIGNATURE):
        # XLS, MSG, and password-protected DOCX, XLSX and PPTX have this format. The parser later
        # distinguishes them from other files of this format.
        types = (*_OFFICE_TYPES, media.XLS, media.MSG)
        return next((name for name in claimed_types if name in types), None)
    return media.RTF if head.lstrip().startswith(b"{\\rtf") else None


def _detect_image_type(head: bytes) -> str | None:
    for signature, media_type in _IMAGE_SIGNATURES.items():
        if head.startswith(signature):
            return media_type
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return media.WEBP
    if _HEIC.match(head):
        return media.HEIC
    length = int.from_bytes(head[_BMP_LENGTH_OFFSET : _BMP_LENGTH_OFFSET + 4], "little")
    return media.BMP if head.startswith(b"BM") and length in _BMP_HEADER_LENGTHS else None


def _detect_zip_type(head: bytes, claimed_types: list[str]) -> str:
    """Determine the media type of a ZIP archive from its first entries.

    If these entries allow several types of Office files, returns the first of these types in
    `claimed_types`. If no type can be determined, returns `application/zip`.
    """
    for match in _ZIP_ENTRY.finditer(head):
        name_length, extra_length = (int.from_bytes(group, "little") for group in match.groups())
        name = head[match.end() : match.end() + name_length]
        for prefix, media_type in _ZIP_FOLDERS.items():
            if name.startswith(prefix):
                return media_type
        if name == _MIMETYPE_ENTRY:
            # OpenDocument, part 2, section 3.3, and EPUB 3.3, section 4.2.6.2: the first entry
            # contains the media type without compression.
            type_match = _FIRST_ENTRY_TYPE.match(head, match.end() + name_length + extra_length)
            return type_match[0].decode() if type_match else "application/zip"
        if name == b"[Content_Types].xml":
            content_types = head[match.end() + name_length + extra_length :]
            if _WORD_MAIN_PART in _inflate(content_types):
                return media.DOCX
    if b"[Content_Types].xml" in head:
        return next((name for name in claimed_types if name in _OFFICE_TYPES), "application/zip")
    return "application/zip"


def _inflate(compressed_data: bytes) -> bytes:
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(compressed_data, HEAD_BYTES)
    except zlib.error:
        return compressed_data  # stored uncompressed


def _detect_text_type(head: bytes) -> str | None:
    """Return the media type of text content, or None if the content is not text."""
    text = _decode_head(head)
    if text is None:
        return None
    if text.startswith("%!PS"):
        return "application/postscript"
    if _HTML.match(text[:4096].lower()):
        return media.HTML
    return media.MAIL if _is_mail(text[:8192]) else media.PLAIN


def _decode_head(head: bytes) -> str | None:
    """Decode the start of a file, or return None if it has too many control characters for text."""
    if bom := detect_bom(head):
        encoding, head = bom[0], head[bom[1] :]
    else:
        encoding = detect_utf16_without_bom(head) or "utf-8"
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head)
    if encoding == "utf-8" and "\ufffd" in text:
        # Probably a one-byte encoding. Latin-1 shows the control characters of any such encoding.
        text = head.decode("latin-1")
    return None if len(_CONTROL_CHARACTERS.findall(text)) * 100 > len(text) else text


def _is_mail(text: str) -> bool:
    """Return whether `text` begins with header fields, two or more of them in `_MAIL_FIELDS`."""
    field_names: set[str] = set()
    for index, line in enumerate(text.splitlines()):
        if line[:1] in (" ", "\t") or (index == 0 and line.startswith("From ")):
            continue
        field_match = _HEADER_FIELD.match(line)
        if field_match is None:
            break
        field_names.add(field_match[1].lower())
    return len(field_names & _MAIL_FIELDS) >= _MIN_MAIL_FIELDS


def _guess_type(head: bytes) -> str | None:
    """Return the likely media type of an unsupported file, or None."""
    import puremagic  # noqa: PLC0415 - only needed for the error message

    try:
        matches = puremagic.magic_string(head)
    except (puremagic.PureError, ValueError):
        return None
    return next((match.mime_type for match in matches if match.mime_type), None)
