"""Read email with the standard library: the main headers, the body, the names of attachments.

Messages forwarded as attachments are read in the same way, and their text follows that of the
email. The emails of an mbox file are read one by one; each begins on a new page.
"""

import base64
import binascii
import email
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.utils import collapse_rfc2231_value
from itertools import islice
from typing import NamedTuple

from app.engines.documents.readers import flowed_text, html
from app.engines.documents.text import decode_text, find_codec, replace_unstorable_chars

_SHOWN_HEADERS = ("From", "To", "Cc", "Subject", "Date")
_MAX_PARTS = 1_000
_MAX_DEPTH = 20
_MESSAGE_TYPES = ("message/rfc822", "message/global")
# The line before each email of an mbox file: it has a sender and a time, follows an empty line, and
# precedes a header field.
_MBOX_SEPARATOR = re.compile(
    rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]*\d:\d\d[^\r\n]*\r?\n(?=[!-9;-~]+:)"
)
_YEAR = re.compile(rb"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"\w+")
_QUOTED_SEPARATOR = re.compile(rb"^>(>*From )", re.MULTILINE)


def extract_text(data: bytes) -> str:
    """Return the text of an email, or of all emails in an mbox file, separated by form feeds.

    Raises `ParseFailed` (`unreadable`) if an HTML body cannot be read.
    """
    emails = list(split_mbox(data)) or [data]
    return "\f".join(MailText(email.message_from_bytes(mail)).build_text() for mail in emails)


def split_mbox(data: bytes) -> Iterator[bytes]:
    """Yield the emails of an mbox file, or yield nothing if the file is a single email."""
    # A sentence may begin with `From` and contain a time, but only a separator also has a year.
    matches = [match for match in _MBOX_SEPARATOR.finditer(data) if _YEAR.search(match[0])]
    if not matches or matches[0].start() > 0:
        return
    ends = [*(match.start() for match in matches[1:]), len(data)]
    for match, end in zip(matches, ends, strict=True):
        yield _QUOTED_SEPARATOR.sub(rb"\1", data[match.end() : end])


class AttachedPart(NamedTuple):
    """An attachment; if `is_message` is true, a forwarded message. `name` may be empty."""

    name: str
    part: Message
    is_message: bool


class _Body(NamedTuple):
    """The text of one plain or HTML part of an email.

    `alternatives` is the `multipart/alternative` part that contains all versions of the text, or
    None if there is only one version.
    """

    text: str
    is_plain: bool
    alternatives: Message | None


class MailText:
    """The text of a message, including messages forwarded in it, and its `attachments`."""

    def __init__(self, message: Message, depth: int = 0) -> None:
        self._message = message
        self._depth = depth
        self._bodies: list[_Body] = []
        self._other_texts: list[str] = []
        self.attachments: list[AttachedPart] = []
        self._attachment_names: list[str] = []
        self._forwarded_sections: list[str] = []
        parts = list(islice(_iterate_parts(message), _MAX_PARTS))
        charsets = (part.get_content_charset() for part, _ in parts if _is_text(part))
        self._charset = next((charset for charset in charsets if charset), None)
        for index, (part, alternatives) in enumerate(parts):
            self._read_part(part, alternatives, is_first=index == 0)

    def build_text(self) -> str:
        """Return the headers, the body, the attachment names and the text of forwarded messages."""
        lines = [f"{name}: {value}" for name in _SHOWN_HEADERS if (value := self.get_header(name))]
        body = "\n\n".join(_select_texts(self._bodies) or self._other_texts)
        sections = ["\n".join(lines), body.strip("\r\n")]
        if self._attachment_names:
            sections.append("Attachments: " + ", ".join(self._attachment_names))
        return replace_unstorable_chars(
            "\n\n".join(section for section in (*sections, *self._forwarded_sections) if section)
        )

    def _read_part(self, part: Message, alternatives: Message | None, *, is_first: bool) -> None:
        # Some programs give the body a file name.
        name = "" if is_first and _is_body(part) else self._get_file_name(part)
        inner_message = _get_forwarded_message(part) if self._depth < _MAX_DEPTH else None
        if inner_message is not None:
            label = f"Attached message: {name}".rstrip(": ") + ("" if name else ":")
            self._forwarded_sections.append(
                f"{label}\n{MailText(inner_message, self._depth + 1).build_text()}"
            )
            self.attachments.append(AttachedPart(name, inner_message, is_message=True))
        elif name or part.is_multipart() or part.get_content_disposition() == "attachment":
            self._attachment_names.append(name or part.get_content_type())
            self.attachments.append(AttachedPart(name, part, is_message=False))
        elif part.get_content_type() == "text/plain":
            text = _read_plain_text(part)
            self._bodies.append(_Body(text, is_plain=True, alternatives=alternatives))
        elif part.get_content_type() == "text/html":
            text = html.extract_text(get_payload(part), part.get_content_charset())
            self._bodies.append(_Body(text, is_plain=False, alternatives=alternatives))
        elif part.get_content_maintype() in ("text", "multipart"):
            # The part is an invitation, has a malformed type, or is a multipart without a boundary.
            self._other_texts.append(decode_text(get_payload(part), part.get_content_charset()))

    def get_header(self, name: str) -> str:
        """Return the decoded value of a header on one line, or an empty string if it is missing."""
        value = _get_raw_header(self._message, name)
        return self._decode_encoded_words(value) if value else ""

    def _get_file_name(self, part: Message) -> str:
        # Decode the headers first, because the library replaces non-ASCII bytes with U+FFFD.
        decoded_part = Message()
        for header in ("Content-Disposition", "Content-Type"):
            value = _get_raw_header(part, header)
            if value:
                decoded_part[header] = self._decode_bytes(value)
        name = decoded_part.get_filename()
        return self._decode_encoded_words(collapse_rfc2231_value(name)) if name else ""

    def _decode_encoded_words(self, value: str) -> str:
        """Return a header's value on one line, with its encoded words (RFC 2047) decoded."""
        value = self._decode_bytes(value)
        # The library encodes the text between encoded words as raw-unicode-escape.
        encoding = "ascii" if value.isascii() else "raw-unicode-escape"
        with suppress(LookupError, ValueError, MessageError):  # unknown or invalid encoding
            value = "".join(
                chunk if isinstance(chunk, str) else _decode_chunk(chunk, charset or encoding)
                for chunk, charset in decode_header(value)
            )
        return " ".join(value.split())

    def _decode_bytes(self, value: str) -> str:
        """Return a header's value with its non-ASCII bytes decoded in their most likely encoding.

        The bytes are represented as surrogates (PEP 383). UTF-8 is tried first, then the charset of
        the body.
        """
        try:
            data = value.encode("ascii", "surrogateescape")
        except UnicodeEncodeError:
            return value
        if data.isascii():
            return value
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return decode_text(data, self._charset)


def _read_plain_text(part: Message) -> str:
    text = decode_text(get_payload(part), part.get_content_charset())
    if not flowed_text.is_flowed(part):
        return text
    delete_spaces = str(part.get_param("delsp", "")).lower() == "yes"
    return flowed_text.join_lines(text, delete_spaces=delete_spaces)


def _decode_chunk(chunk: bytes, encoding: str) -> str:
    """Decode a part of a header. Raises LookupError if the encoding is unknown."""
    if encoding == "raw-unicode-escape":
        return chunk.decode(encoding)
    if find_codec(encoding) is None:
        raise LookupError(encoding)
    return decode_text(chunk, encoding)


def _get_raw_header(message: Message, name: str) -> str:
    lower_name = name.lower()
    return next((value for key, value in message.raw_items() if key.lower() == lower_name), "")


def _is_text(part: Message) -> bool:
    return part.get_content_maintype() == "text"


def _is_body(part: Message) -> bool:
    is_readable = part.get_content_type() in ("text/plain", "text/html")
    return is_readable and part.get_content_disposition() != "attachment"


def _get_forwarded_message(part: Message) -> Message | None:
    """Return the message that a part forwards, or None."""
    if part.get_content_type() not in _MESSAGE_TYPES or not part.is_multipart():
        return None
    payload = part.get_payload()
    if not isinstance(payload, list) or not payload or not isinstance(payload[0], Message):
        return None
    inner_message = payload[0]
    body = inner_message.get_payload()
    if inner_message.keys() or not isinstance(body, str):
        return inner_message
    # Some programs encode the whole message, although the standard forbids it.
    try:
        data = base64.b64decode(body.encode("ascii", "ignore"), validate=False)
    except (binascii.Error, ValueError):
        return inner_message
    return email.message_from_bytes(data) if data else inner_message


def _select_texts(bodies: Sequence[_Body]) -> list[str]:
    """Return the texts of an email to show, with only one version of each text.

    The plain version is preferred unless it is incomplete. Some programs do not declare the
    versions as alternatives; HTML is therefore also left out if the plain texts contain all its
    words.
    """
    visible_bodies = [body for body in bodies if body.text.strip()]
    incomplete_alternatives = _find_incomplete_alternatives(visible_bodies)
    visible_bodies = [
        body
        for body in visible_bodies
        if not (body.is_plain and body.alternatives in incomplete_alternatives)
    ]
    plain_bodies = [body for body in visible_bodies if body.is_plain]
    alternatives = {body.alternatives for body in plain_bodies} - {None}
    words = {word for body in plain_bodies for word in _WORD.findall(body.text)}

    def is_repeated(body: _Body) -> bool:
        if body.is_plain or not plain_bodies:
            return False
        return body.alternatives in alternatives or words.issuperset(_WORD.findall(body.text))

    return [body.text for body in visible_bodies if not is_repeated(body)]


def _find_incomplete_alternatives(bodies: Sequence[_Body]) -> set[Message]:
    """Return the alternatives whose plain text lacks most words of the HTML and has fewer words.

    Such plain text usually only asks the reader to open the email in another program.
    """
    words: dict[tuple[Message | None, bool], set[str]] = {}
    for body in bodies:
        key = body.alternatives, body.is_plain
        words.setdefault(key, set()).update(_WORD.findall(body.text.lower()))
    incomplete_alternatives: set[Message] = set()
    for (alternatives, is_plain), html_words in words.items():
        if alternatives is not None and not is_plain:
            plain_words = words.get((alternatives, True), html_words)
            is_shorter = len(plain_words) < len(html_words)
            if is_shorter and 2 * len(html_words & plain_words) < len(html_words):
                incomplete_alternatives.add(alternatives)
    return incomplete_alternatives


def _iterate_parts(message: Message) -> Iterator[tuple[Message, Message | None]]:
    """Yield each part with content, and the outermost `multipart/alternative` around it, or None.

    A message inside the message counts as one part.
    """
    pending_parts: list[tuple[Message, Message | None]] = [(message, None)]
    while pending_parts:
        part, alternatives = pending_parts.pop()
        if part.is_multipart() and part.get_content_maintype() == "multipart":
            if alternatives is None and part.get_content_subtype() == "alternative":
                alternatives = part
            children = part.get_payload()
            assert isinstance(children, list)
            pending_parts += [
                (child, alternatives) for child in reversed(children) if isinstance(child, Message)
            ]
        else:
            yield part, alternatives


def get_payload(part: Message) -> bytes:
    """Return the decoded content of a part, or empty bytes if it has no content."""
    encoding = part.get("Content-Transfer-Encoding")
    if isinstance(encoding, str) and encoding != encoding.strip():
        # The library does not recognize an encoding that is followed by white space.
        part.replace_header("Content-Transfer-Encoding", encoding.strip())
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""
