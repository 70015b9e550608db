"""Convert an MSG file ([MS-OXMSG]), an email from Outlook, to a message of the standard library.

Emails that are attached to this email become attached messages.
"""

import mimetypes
from dataclasses import replace
from email.message import EmailMessage, Message
from email.policy import default
from hashlib import sha256
from io import BytesIO
from itertools import islice
from typing import Any

from compressed_rtf import decompress  # type: ignore[import-untyped]
from olefile import OleFileIO  # type: ignore[import-untyped]
from oxmsg import Message as OutlookMessage
from oxmsg.attachment import Attachment
from oxmsg.storage import Storage

from app.engines.documents.model import ParseFailed
from app.engines.documents.readers import rich_text
from app.engines.documents.readers.mail import get_payload
from app.engines.documents.text import decode_text, replace_unstorable_chars

_MAX_ATTACHMENTS = 1_000
_MAX_DEPTH = 20
_MIME_TYPES = mimetypes.MimeTypes()
# PidTagDisplayTo, PidTagDisplayCc, PidTagAttachContentId, PidTagHtml, PidTagRtfCompressed and
# PidTagAttachMethod of [MS-OXPROPS].
_DISPLAY_TO, _DISPLAY_CC, _CONTENT_ID, _HTML, _RICH_TEXT = 0x0E04, 0x0E03, 0x3712, 0x1013, 0x1009
_ATTACH_METHOD, _EMBEDDED_MESSAGE = 0x3705, 5
# An email attached to another email is a storage, not a stream. The header of its properties lacks
# eight reserved bytes at the end ([MS-OXMSG], 2.4.1).
_INNER_STORAGE, _PROPERTIES = "__substg1.0_3701000D", "__properties_version1.0"
_INNER_HEADER_BYTES, _RESERVED_BYTES = 24, bytes(8)


def read_message(data: bytes) -> Message:
    """Read an MSG file, and return the email with its attachments. Raises `ParseFailed`.

    At most `_MAX_ATTACHMENTS` attachments are read. The same file always gives the same message.
    """
    try:
        with OleFileIO(BytesIO(data)) as file:
            storage = Storage.from_ole(file)
        return _build_message(storage)
    except MemoryError:
        raise
    except Exception as error:  # A damaged file can make the libraries raise any exception.
        message = "The file is damaged or not an Outlook email."
        raise ParseFailed("unreadable", message) from error


def _build_message(storage: Storage, depth: int = 0) -> EmailMessage:
    source = OutlookMessage(storage)
    message = EmailMessage(default)
    for name, value in _read_headers(source).items():
        if value:
            message[name] = " ".join(replace_unstorable_chars(str(value)).split())
    html = _read_html(source)
    message.set_content(
        replace_unstorable_chars(source.body or ("" if html else _read_body(source)))
    )
    if html:
        message.add_alternative(replace_unstorable_chars(html), subtype="html")
    for attachment_storage in islice(storage.iter_attachment_storages(), _MAX_ATTACHMENTS):
        _add_attachment(message, attachment_storage, depth)
    _set_boundaries(message)
    return message


def _read_html(source: OutlookMessage) -> str | None:
    """Return the HTML of the body, or None.

    This function decodes the HTML itself, because the library rejects HTML with bytes that are
    invalid in the declared encoding.
    """
    data = source.properties.binary_prop_value(_HTML)
    return decode_text(data, source.properties.body_encoding) if data else source.html_body


def _read_body(source: OutlookMessage) -> str:
    """Return the text of a body that is stored only as compressed RTF, or an empty string."""
    compressed_body = source.properties.binary_prop_value(_RICH_TEXT)
    return rich_text.extract_text(decompress(compressed_body)) if compressed_body else ""


def _add_attachment(message: EmailMessage, storage: Storage, depth: int) -> None:
    attachment = Attachment(storage)
    if attachment.properties.int_prop_value(_ATTACH_METHOD) == _EMBEDDED_MESSAGE:
        inner_storage = next(
            (child for child in storage.storages if child.name == _INNER_STORAGE), None
        )
        if inner_storage is not None and depth < _MAX_DEPTH:
            name = replace_unstorable_chars(attachment.file_name or "").removesuffix(".msg")
            inner_message = _build_message(_complete_header(inner_storage), depth + 1)
            message.add_attachment(inner_message, filename=name or None)
    elif content := attachment.file_bytes:
        _add_file(message, attachment, content)


def _complete_header(storage: Storage) -> Storage:
    """Return the storage of an attached email, with the missing reserved bytes in its header."""
    streams = (
        replace(
            stream,
            bytes_=stream.bytes_[:_INNER_HEADER_BYTES]
            + _RESERVED_BYTES
            + stream.bytes_[_INNER_HEADER_BYTES:],
        )
        if stream.name == _PROPERTIES
        else stream
        for stream in storage.streams
    )
    return replace(storage, streams=tuple(streams))


def _add_file(message: EmailMessage, attachment: Attachment, content: bytes) -> None:
    name = replace_unstorable_chars(attachment.file_name or "")
    media_type = attachment.mime_type or _MIME_TYPES.guess_type(name)[0] or ""
    maintype, _, subtype = media_type.partition("/")
    if not subtype or maintype in ("text", "message", "multipart"):
        maintype, subtype = "application", "octet-stream"
    content_id = attachment.properties.str_prop_value(_CONTENT_ID)
    inline_options: dict[str, Any] = {}
    if content_id:
        inline_options = {"disposition": "inline", "cid": f"<{content_id}>"}
    message.add_attachment(content, maintype, subtype, filename=name, **inline_options)


def _set_boundaries(message: EmailMessage) -> None:
    """Set MIME boundaries that depend only on the content; the library would set random ones.

    An attached email becomes a separate document, which is identified by its bytes, so these bytes
    must be the same each time.
    """
    digest = sha256(message.get("Subject", "").encode())
    for part in message.walk():
        digest.update(part.get_boundary("").encode() + sha256(get_payload(part)).digest())
    for number, part in enumerate(message.walk()):
        if part.get_content_maintype() == "multipart" and not part.get_boundary():
            part.set_boundary(f"=_{number}_{digest.hexdigest()[:32]}")


def _read_headers(source: OutlookMessage) -> dict[str, Any]:
    sent_date = source.sent_date
    read_property = source.properties.str_prop_value
    return {
        "From": source.sender,
        "To": source.message_headers.get("To") or read_property(_DISPLAY_TO),
        "Cc": source.message_headers.get("Cc") or read_property(_DISPLAY_CC),
        "Subject": source.subject,
        "Date": source.message_headers.get("Date")
        or (sent_date and f"{sent_date:%a, %d %b %Y %H:%M:%S}"),
    }
