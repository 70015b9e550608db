"""Delivery of emails through the operator's mail server, or to a folder if there is no server."""

import os
import re
import secrets
import smtplib
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import formatdate, parseaddr
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from app.kit.logging import get_logger
from app.kit.settings_values import parse_switch

log = get_logger("app.mail")

TIMEOUT_SECONDS = 10.0
_MAX_ADDRESS_LENGTH = 320
# The default ports by URL scheme and STARTTLS.
_PORTS = {("smtp", False): 25, ("smtp", True): 587, ("smtps", False): 465, ("smtps", True): 465}
_ATOM = r"[^\s<>@,;:\"()\[\]\\\x00-\x1f\x7f]+"
_ADDRESS = re.compile(rf"{_ATOM}@{_ATOM}")
_MESSAGE_ID = re.compile(r"[A-Za-z0-9._-]{1,200}")
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f]")
_PERMANENT_ERROR_CODES = range(500, 600)


class MailRefused(ValueError):  # noqa: N818 - names what happened
    """The message cannot be sent because its address, subject or message id is invalid."""


class MailFailed(Exception):  # noqa: N818 - names what happened
    """The mail server did not accept the message, or outbound traffic is switched off.

    If `permanent`, retrying cannot succeed.
    """

    def __init__(self, reason: str, *, permanent: bool) -> None:
        super().__init__(reason)
        self.permanent = permanent


class Mailer:
    """Sends emails. Each message uses a new connection, so that threads can share the mailer.

    Args:
        smtp_url: `smtp://user:password@host:port?starttls=1`, `smtps://…`, or empty.
        folder: the folder in which messages are stored as `.eml` files if `smtp_url` is empty.
        sender: an address, with or without a name.
        closed: whether outbound traffic is switched off. Sending then raises MailFailed.

    The operator configures the mail server, which is usually part of the operator's network.
    Therefore, the egress policy does not apply to it. That policy is for addresses that customers
    enter.
    """

    def __init__(self, smtp_url: str, folder: Path, sender: str, *, closed: bool = False) -> None:
        self._closed = closed
        self._url = urlsplit(smtp_url) if smtp_url else None
        self._folder = folder
        self._sender = sender
        self._domain = parseaddr(sender)[1].rpartition("@")[2] or "localhost"

    def send(
        self,
        to: str,
        subject: str,
        text: str,
        html: str | None = None,
        *,
        message_id: str | None = None,
        language: str | None = None,
        unsubscribe_url: str | None = None,
    ) -> None:
        """Send a message to one address, or write it to the folder if there is no mail server.

        `message_id` consists of letters, digits, `.`, `_` and `-`. If a message is sent again, use
        the same id, so that receivers recognize the duplicate and the same file is written.
        `language` is the value of the Content-Language header (an RFC 5646 language tag).
        `unsubscribe_url` accepts one-click unsubscribe requests from mail programs (RFC 8058).

        Raises:
            MailRefused: the message is invalid; nothing was sent.
            MailFailed: the server did not accept the message, or `closed` is set.
            OSError: the file could not be written.
        """
        if self._closed:
            raise MailFailed("outbound traffic is switched off", permanent=False)
        message_id = message_id or secrets.token_hex(16)
        message = self._build_message(to, subject, text, html, message_id)
        if language:
            message["Content-Language"] = language
        if unsubscribe_url:
            message["List-Unsubscribe"] = f"<{unsubscribe_url}>"
            message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
        if self._url is None:
            self._write_file(message, message_id)
            return
        with _translate_failures(), self._connect() as server:
            server.send_message(message)
        log.info("mail.sent", message_id=message_id)

    def _build_message(
        self, to: str, subject: str, text: str, html: str | None, message_id: str
    ) -> EmailMessage:
        if not _MESSAGE_ID.fullmatch(message_id):
            raise MailRefused("a message id must consist of letters, digits, '.', '_' and '-'")
        if _CONTROL_CHARACTER.search(subject):
            raise MailRefused("a subject must be one line without control characters")
        recipient = parse_envelope_address(to)
        message = EmailMessage(policy=SMTP if recipient.isascii() else SMTPUTF8)
        message["From"] = self._sender
        message["To"] = recipient
        message["Subject"] = _replace_surrogates(subject)
        message["Date"] = formatdate(usegmt=True)
        message["Message-ID"] = f"<{message_id}@{self._domain}>"
        message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office replies
        message.set_content(_replace_surrogates(text))
        if html is not None:
            message.add_alternative(_replace_surrogates(html), subtype="html")
        return message

    @contextmanager
    def _connect(self) -> Iterator[smtplib.SMTP]:
        assert self._url is not None
        host, local_hostname = self._url.hostname or "", socket.gethostname()
        starttls = parse_switch(dict(parse_qsl(self._url.query)).get("starttls", "off"))
        port = self._url.port or _PORTS[self._url.scheme, starttls]
        context = ssl.create_default_context()
        server: smtplib.SMTP
        if self._url.scheme == "smtps":
            server = smtplib.SMTP_SSL(
                host, port, local_hostname=local_hostname, timeout=TIMEOUT_SECONDS, context=context
            )
        else:
            server = smtplib.SMTP(
                host, port, local_hostname=local_hostname, timeout=TIMEOUT_SECONDS
            )
        with server:
            if starttls and self._url.scheme == "smtp":
                server.starttls(context=context)
            if self._url.username:
                server.login(unquote(self._url.username), unquote(self._url.password or ""))
            yield server

    def _write_file(self, message: EmailMessage, message_id: str) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / f"{message_id}.eml"
        temporary_path = path.with_name(f".{secrets.token_hex(8)}")
        try:
            with os.fdopen(
                os.open(temporary_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
            ) as file:
                file.write(message.as_bytes())
            temporary_path.replace(path)
        except OSError:  # a full disk, for example
            temporary_path.unlink(missing_ok=True)
            raise
        log.info("mail.written", file=str(path))


def parse_envelope_address(to: str) -> str:
    """Check an email address, and return it with its domain in ASCII.

    Raises MailRefused if `to` is not a single email address.
    """
    if len(to) > _MAX_ADDRESS_LENGTH or not _ADDRESS.fullmatch(to):
        raise MailRefused("the recipient must be a single email address")
    local, _, domain = to.rpartition("@")
    try:
        local.encode()
        return f"{local}@{domain if domain.isascii() else domain.encode('idna').decode('ascii')}"
    except UnicodeError:
        raise MailRefused("the recipient must be a single email address") from None


def _replace_surrogates(text: str) -> str:
    """Return the text with `?` in place of lone surrogates, which emails cannot contain."""
    return text.encode("utf-8", "replace").decode()


@contextmanager
def _translate_failures() -> Iterator[None]:
    try:
        yield
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        permanent = all(code in _PERMANENT_ERROR_CODES for code in codes)
        raise MailFailed(f"recipient refused ({codes[0]})", permanent=permanent) from error
    except smtplib.SMTPDataError as error:
        permanent = error.smtp_code in _PERMANENT_ERROR_CODES
        raise MailFailed(f"message refused ({error.smtp_code})", permanent=permanent) from error
    except smtplib.SMTPNotSupportedError as error:
        raise MailFailed("the server lacks a required feature", permanent=True) from error
    except (smtplib.SMTPException, OSError) as error:
        reason = f"the mail server failed ({type(error).__name__})"
        raise MailFailed(reason, permanent=False) from error
