"""The letters that the service wrote into its folder, as their reader sees them."""

import re
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage

from app.kit import container

_TOKEN = re.compile(r"token=([A-Za-z0-9_-]+)")


@dataclass(frozen=True)
class Letter:
    """One letter. `token` is the one its link carries, or empty."""

    to: str
    subject: str
    text: str
    token: str


def letters_to(address: str) -> list[Letter]:
    """All letters to an address, the oldest first."""
    folder = container.settings().data_dir / "mail"
    paths = sorted(folder.glob("*.eml"), key=lambda path: (path.stat().st_mtime_ns, path.name))
    found = (message_from_bytes(path.read_bytes(), policy=policy.default) for path in paths)
    return [_letter(message) for message in found if message["To"] == address]


def _letter(message: EmailMessage) -> Letter:
    part = message.get_body(("plain",))
    assert part is not None
    text = str(part.get_content())
    token = _TOKEN.search(text)
    return Letter(message["To"], message["Subject"], text, token[1] if token else "")
