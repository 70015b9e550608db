"""Read the emails that the service has written into the folder `mail`."""

import re
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.parser import BytesHeaderParser
from functools import cache
from pathlib import Path

from app.kit import container

_TOKEN = re.compile(r"token=([A-Za-z0-9_-]+)")


@dataclass(frozen=True)
class SentEmail:
    """An email. `token` is the token in its link, or an empty string if it has none."""

    to: str
    subject: str
    text: str
    token: str


def list_messages_to(address: str) -> list[EmailMessage]:
    """Return all messages to an address, oldest first."""
    folder = container.settings().data_dir / "mail"
    paths = sorted(folder.glob("*.eml"), key=lambda path: (path.stat().st_mtime_ns, path.name))
    return [
        message_from_bytes(path.read_bytes(), policy=policy.default)
        for path in paths
        if _read_recipient(path) == address
    ]


@cache
def _read_recipient(path: Path) -> str:
    """Return the recipient of a stored message.

    This is cached, because the folder also contains the messages of all earlier tests.
    """
    with path.open("rb") as file:
        return str(BytesHeaderParser(policy=policy.default).parse(file)["To"])


def list_emails_to(address: str) -> list[SentEmail]:
    """Return all emails to an address, oldest first."""
    return [_parse(message) for message in list_messages_to(address)]


def _parse(message: EmailMessage) -> SentEmail:
    part = message.get_body(("plain",))
    assert part is not None
    text = str(part.get_content())
    token = _TOKEN.search(text)
    return SentEmail(message["To"], message["Subject"], text, token[1] if token else "")
