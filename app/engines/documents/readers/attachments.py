"""Extract the attachments of an email, and the emails in a mailbox."""

import email
import email.generator  # `as_bytes` imports it on first use
import mimetypes
from collections.abc import Iterator
from email.message import Message
from itertools import islice

from app.engines.documents import media
from app.engines.documents.model import Attachment
from app.engines.documents.readers import outlook
from app.engines.documents.readers.mail import AttachedPart, MailText, get_payload, split_mbox

MAX_ATTACHMENTS = 1_000
_MIME_TYPES = mimetypes.MimeTypes()
_MIN_EMBEDDED_BYTES = 50_000


def extract_attachments(data: bytes, media_type: str = media.MAIL) -> Iterator[Attachment]:
    """Yield the attachments and forwarded messages of an email, or the emails in a mailbox.

    Empty files, and small pictures inside the text, such as logos, are left out. Reads at most
    `MAX_ATTACHMENTS` attachments or emails. Raises `ParseFailed`.
    """
    if media_type == media.MSG:
        yield from _read_parts(outlook.read_message(data))
        return
    emails = list(islice(split_mbox(data), MAX_ATTACHMENTS))
    for number, mail in enumerate(emails, start=1):
        yield Attachment(_build_message_name(email.message_from_bytes(mail), number), mail)
    if not emails:
        yield from _read_parts(email.message_from_bytes(data))


def _read_parts(message: Message) -> Iterator[Attachment]:
    attached_parts = MailText(message).attachments
    for number, attached_part in enumerate(attached_parts[:MAX_ATTACHMENTS], start=1):
        attachment = _read_part(attached_part, number)
        if attachment.data and not _is_decoration(attached_part.part, len(attachment.data)):
            yield attachment


def _read_part(attached_part: AttachedPart, number: int) -> Attachment:
    name, part, is_message = attached_part
    if is_message:
        return Attachment(_build_message_name(part, number, name), part.as_bytes())
    extension = _MIME_TYPES.guess_extension(part.get_content_type()) or ""
    return Attachment(name or f"attachment-{number}{extension}", get_payload(part))


def _build_message_name(message: Message, number: int, name: str = "") -> str:
    stem = name or MailText(message).get_header("Subject")[:200] or f"message-{number}"
    return stem if stem.lower().endswith(".eml") else f"{stem}.eml"


def _is_decoration(part: Message, size: int) -> bool:
    """Return whether a part is a small picture that the email shows inside its text."""
    is_embedded = "Content-ID" in part and part.get_content_disposition() != "attachment"
    is_picture = part.get_content_maintype() == "image"
    return is_embedded and is_picture and size < _MIN_EMBEDDED_BYTES
