"""Extract the attachments of an email, or the emails in an mbox file, in a sandboxed process."""

from collections.abc import Iterator
from pathlib import Path

from app.engines.documents import frames
from app.engines.documents.model import DEFAULT_LIMITS, Attachment
from app.engines.documents.processes import build_invalid_result_error, call_entry
from app.engines.documents.text import replace_unstorable_chars

_MAX_NAME_CHARS = 255


def iterate_attachments(path: Path, media_type: str) -> Iterator[Attachment]:
    """Yield the attachments and forwarded messages of an email, or the emails in a mailbox.

    `media_type` is one of `MAIL_TYPES`. Of a long name, only the end is kept. Empty files, and
    small pictures inside the text, such as logos, are left out. Raises `ParseFailed`, and
    `SandboxUnavailable` if no process could be started.
    """
    with call_entry(
        "extract_attachments", path, {"media_type": media_type}, DEFAULT_LIMITS
    ) as received_frames:
        for frame_type, payload in received_frames:
            content_type, content = next(received_frames, (b"", b""))
            if (frame_type, content_type) != (frames.ATTACHMENT, frames.CONTENT):
                raise build_invalid_result_error()
            name = replace_unstorable_chars(payload.decode("utf-8", "replace"))
            yield Attachment(name[-_MAX_NAME_CHARS:], content)
