"""Read MSG ([MS-OXMSG]), in which Outlook stores an email, as a message of the standard library."""

import mimetypes
from email.message import EmailMessage, Message
from email.policy import default
from io import BytesIO
from typing import Any

from oxmsg import Message as OutlookMessage

from app.engines.documents.model import ParseFailed
from app.engines.documents.text import replace_unstorable

_MAX_ATTACHMENTS = 1_000
_TYPES = mimetypes.MimeTypes()
# PidTagDisplayTo, PidTagDisplayCc and PidTagAttachContentId of [MS-OXPROPS].
_DISPLAY_TO, _DISPLAY_CC, _CONTENT_ID = 0x0E04, 0x0E03, 0x3712


def read_message(data: bytes) -> Message:
    """Return the email with its attachments. Raises `ParseFailed`."""
    try:
        return _convert(OutlookMessage.load(BytesIO(data)))
    except Exception as error:  # A damaged file makes the libraries raise anything.
        message = "The file is damaged or not an email of Outlook."
        raise ParseFailed("unreadable", message) from error


def _convert(source: Any) -> Message:
    message = EmailMessage(default)
    for name, value in _read_headers(source).items():
        if value:
            message[name] = " ".join(replace_unstorable(str(value)).split())
    message.set_content(replace_unstorable(source.body or ""))
    if html := source.html_body:
        message.add_alternative(replace_unstorable(html), subtype="html")
    for attachment in source.attachments[:_MAX_ATTACHMENTS]:
        # Emails inside emails are stored in another way, which the library does not read.
        if content := attachment.file_bytes:
            _add_attachment(message, attachment, content)
    return message


def _add_attachment(message: EmailMessage, attachment: Any, content: bytes) -> None:
    name = replace_unstorable(attachment.file_name or "")
    media_type = attachment.mime_type or _TYPES.guess_type(name)[0] or ""
    maintype, _, subtype = media_type.partition("/")
    if not subtype or maintype in ("text", "message", "multipart"):
        maintype, subtype = "application", "octet-stream"
    content_id = attachment.properties.str_prop_value(_CONTENT_ID)
    shown: dict[str, Any] = {}
    if content_id:
        shown = {"disposition": "inline", "cid": f"<{content_id}>"}
    message.add_attachment(content, maintype, subtype, filename=name, **shown)


def _read_headers(source: Any) -> dict[str, Any]:
    sent = source.sent_date
    read = source.properties.str_prop_value
    return {
        "From": source.sender,
        "To": source.message_headers.get("To") or read(_DISPLAY_TO),
        "Cc": source.message_headers.get("Cc") or read(_DISPLAY_CC),
        "Subject": source.subject,
        "Date": source.message_headers.get("Date") or (sent and f"{sent:%a, %d %b %Y %H:%M:%S}"),
    }
