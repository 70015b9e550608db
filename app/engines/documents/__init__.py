"""Convert untrusted files to text, pages, words with boxes, and page images.

Files are read in a sandboxed process with limits on memory, processor time, waiting time, pages and
pixels, so that a decompression bomb or a crash only affects that document. The supported formats,
their limits and the meaning of offsets are described in docs/contributors/documents.md.
"""

from app.engines.documents.detection import HEAD_BYTES, detect_media_type
from app.engines.documents.layout import parse_text
from app.engines.documents.media import MAIL_TYPES, MEDIA_TYPES, PAGED_TYPES
from app.engines.documents.model import (
    DEFAULT_LIMITS,
    FAILURE_CODES,
    Attachment,
    Limits,
    Page,
    PageNotFound,
    ParsedDocument,
    ParseFailed,
    UnsupportedMediaType,
    Word,
)
from app.engines.documents.processes import start_server, stop_server
from app.engines.documents.service import (
    ImageFormat,
    iterate_attachments,
    parse,
    parse_stream,
    render,
    render_text,
)
from app.engines.sandbox.model import SandboxUnavailable

__all__ = [
    "DEFAULT_LIMITS",
    "FAILURE_CODES",
    "HEAD_BYTES",
    "MAIL_TYPES",
    "MEDIA_TYPES",
    "PAGED_TYPES",
    "Attachment",
    "ImageFormat",
    "Limits",
    "Page",
    "PageNotFound",
    "ParseFailed",
    "ParsedDocument",
    "SandboxUnavailable",
    "UnsupportedMediaType",
    "Word",
    "detect_media_type",
    "iterate_attachments",
    "parse",
    "parse_stream",
    "parse_text",
    "render",
    "render_text",
    "start_server",
    "stop_server",
]
