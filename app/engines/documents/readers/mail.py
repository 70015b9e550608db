"""E-mail through the standard library: the main headers, the body, the attachments' names."""

import email
import email.policy
from collections.abc import Iterator
from contextlib import suppress
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import collapse_rfc2231_value
from itertools import islice

from app.engines.documents.readers import html
from app.engines.documents.text import clean, decode

_HEADERS = ("From", "To", "Cc", "Subject", "Date")
_MOST_PARTS = 1_000


def text(data: bytes) -> str:
    """Headers, an empty line, the body (plain text before HTML), then the attachments' names."""
    message = email.message_from_bytes(data, policy=email.policy.compat32)
    body, attachments = _contents(message)
    lines = [f"{name}: {value}" for name in _HEADERS if (value := _header(message, name))]
    pieces = ["\n".join(lines), body.strip("\r\n")]
    if attachments:
        pieces.append("Attachments: " + ", ".join(attachments))
    return clean("\n\n".join(piece for piece in pieces if piece))


def _header(message: Message, name: str) -> str:
    wanted = name.lower()
    return next((_shown(value) for key, value in message.raw_items() if key.lower() == wanted), "")


def _shown(value: str) -> str:
    """A header's value with its encoded words (RFC 2047) read, on one line."""
    with suppress(LookupError, ValueError, MessageError):  # an encoding unknown or not kept to
        value = str(make_header(decode_header(value)))
    with suppress(UnicodeEncodeError):  # bytes that are not ASCII come as surrogates (PEP 383)
        value = decode(value.encode("utf-8", "surrogateescape"))
    return " ".join(value.split())


def _contents(message: Message) -> tuple[str, list[str]]:
    """The body's text, and the names of the attachments in order."""
    plain: list[str] = []
    rich: list[str] = []
    names: list[str] = []
    for part in islice(_leaves(message), _MOST_PARTS):
        name = _file_name(part)
        if name or part.is_multipart() or part.get_content_disposition() == "attachment":
            names.append(name or part.get_content_type())
        elif part.get_content_type() == "text/plain":
            plain.append(decode(_payload(part), part.get_content_charset()))
        elif part.get_content_type() == "text/html":
            rich.append(html.text(_payload(part), part.get_content_charset()))
    body = "\n\n".join(piece for piece in plain if piece.strip())
    return body or "\n\n".join(piece for piece in rich if piece.strip()), names


def _leaves(message: Message) -> Iterator[Message]:
    """The parts that hold something; a message inside the message is one of them."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        if part.is_multipart() and part.get_content_maintype() == "multipart":
            inner = part.get_payload()
            assert isinstance(inner, list)
            waiting += [one for one in reversed(inner) if isinstance(one, Message)]
        else:
            yield part


def _payload(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _file_name(part: Message) -> str:
    name = part.get_filename()
    return _shown(collapse_rfc2231_value(name)) if name else ""
