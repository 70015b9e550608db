"""A mail server whose inbox tests can read."""

import asyncio
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from devserver.process import find_free_port

PASSWORD = "p@ss/word:1"
URL_PASSWORD = "p%40ss%2Fword%3A1"


class Inbox:
    """A handler of a receiving server that keeps all messages; tests can set its responses."""

    def __init__(self) -> None:
        self.messages: list[EmailMessage] = []
        self.recipients: list[str] = []
        self.logins: list[tuple[bytes, bytes]] = []
        self.encrypted: list[bool] = []
        self.answer_recipient = self.answer_data = "250 OK"
        self.hold = ""
        """While this is set, messages whose id contains it are kept but not acknowledged."""

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.answer_recipient.startswith("250"):
            envelope.rcpt_tos.append(address)
        return self.answer_recipient

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        content = envelope.content
        assert isinstance(content, bytes)
        parsed = message_from_bytes(content, policy=policy.default)
        assert isinstance(parsed, EmailMessage)
        self.messages.append(parsed)
        self.recipients += envelope.rcpt_tos
        self.encrypted.append(session.ssl is not None)
        while self.hold and self.hold in parsed["Message-ID"]:
            await asyncio.sleep(0.02)
        return self.answer_data

    def authenticate(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any
    ) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.logins.append((data.login, data.password))
        return AuthResult(success=data.password == PASSWORD.encode(), handled=False)


def inbox_server(inbox: Inbox, **options: Any) -> Controller:
    """Return a server for `inbox` on a port of 127.0.0.1, not started yet."""
    # Without a host name, it looks its own name up in the DNS at each connection.
    return Controller(
        inbox,
        hostname="127.0.0.1",
        port=find_free_port(),
        server_hostname="mail.example",
        ready_timeout=60.0,
        **options,
    )


def body(message: EmailMessage, kind: str) -> str:
    """Return the part of `kind`, plain or html, with LF line ends."""
    part = message.get_body((kind,))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n")
