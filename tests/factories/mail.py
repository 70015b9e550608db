"""A mail server that keeps the messages that it receives, so that tests can read them."""

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
    """An SMTP handler that keeps all received messages, even if its response to DATA is an error.

    Tests can set the responses to the commands RCPT and DATA. `encrypted` says for each message
    whether it was sent over TLS.
    """

    def __init__(self) -> None:
        self.messages: list[EmailMessage] = []
        self.recipients: list[str] = []
        self.logins: list[tuple[bytes, bytes]] = []
        self.encrypted: list[bool] = []
        self.recipient_response = self.data_response = "250 OK"
        self.hold = ""
        """While `hold` is not empty, a message whose id contains `hold` gets no response."""

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.recipient_response.startswith("250"):
            envelope.rcpt_tos.append(address)
        return self.recipient_response

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
        return self.data_response

    def authenticate(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any
    ) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.logins.append((data.login, data.password))
        return AuthResult(success=data.password == PASSWORD.encode(), handled=False)


def build_inbox_server(inbox: Inbox, **options: Any) -> Controller:
    """Return an SMTP server for `inbox` on a free port of 127.0.0.1. The caller must start it."""
    # Without a host name, the server looks up its own name in the DNS at each connection.
    return Controller(
        inbox,
        hostname="127.0.0.1",
        port=find_free_port(),
        server_hostname="mail.example",
        ready_timeout=60.0,
        **options,
    )


def get_body(message: EmailMessage, subtype: str) -> str:
    """Return the body with the subtype `plain` or `html`, with LF line endings."""
    part = message.get_body((subtype,))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n")
