"""Render images of pages in a child process, and cache images of common widths for a week.

A page of a document without fixed pages is rendered from its stored text. A later version of the
service may read a different text from the file, which would not match the boxes of the words.
"""

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from threading import BoundedSemaphore
from typing import NamedTuple
from uuid import UUID

from app.documents.artifacts.queries import reading as queries
from app.documents.artifacts.queries import texts
from app.documents.artifacts.service import files
from app.engines import documents
from app.engines.documents.model import Limits, PageNotFound, ParseFailed, UnsupportedMediaType
from app.engines.sandbox.model import SandboxUnavailable
from app.kit import errors
from app.kit.api.responses import Download
from app.kit.storage import NotStored, StorageUnavailable
from app.kit.stored_files import build_reader, translate_storage_errors

CACHED_WIDTH_STEP = 100
"""Only widths that are a multiple of this number are cached. Otherwise the images of one page in
all widths could fill the storage."""

RENDER_LIMITS = Limits(wall_seconds=25.0, cpu_seconds=20)
MAX_CONCURRENT_RENDERINGS = 1
BUSY_RETRY_SECONDS = 1
SANDBOX_RETRY_SECONDS = 5
# Rendering takes a thread, a core and up to a gigabyte of memory. Another request is refused
# immediately, because a waiting thread could not serve other requests.
_rendering_slots = BoundedSemaphore(MAX_CONCURRENT_RENDERINGS)

_RENDER_ERRORS = (PageNotFound, ParseFailed, UnsupportedMediaType)


class PageImageSpec(NamedTuple):
    """The specification of a page image to find in the cache or to render; `width` is in pixels.

    `text` is the text to draw if the document has no pages; None if the page itself is rendered.
    """

    sha256: str
    media_type: str
    number: int
    width: int
    format: documents.ImageFormat
    text: str | None

    def build_key(self) -> str:
        """Build the storage key of the image.

        The key depends on `text`, if it is set, because an upgrade or reprocessing may change it.
        """
        prefix = files.build_page_images_prefix(self.sha256)
        version = ""
        if self.text is not None:
            version = f"-{hashlib.sha256(self.text.encode()).hexdigest()[:16]}"
        return f"{prefix}/{self.number}-{self.width}{version}.{self.format}"


def get_page_image(
    artifact_id: UUID,
    number: int,
    *,
    width: int,
    format: documents.ImageFormat,  # noqa: A002 - named like the query parameter
) -> Download:
    """Return the image of a page, `width` pixels wide.

    Raises 404 if the document, its file or the page does not exist, 409 if the document has not
    been read or the page cannot be rendered, and 400 for `width` if the image would be too large.
    Raises 503 while other pages are being rendered, or if the storage is not available or no
    process can be started.
    """
    content = files.require_readable(queries.find_content(artifact_id))
    if not 1 <= number <= (content.page_count or 0):
        raise errors.not_found()
    text = texts.read_virtual_page_text(artifact_id, number)
    spec = PageImageSpec(content.sha256, content.media_type, number, width, format, text)
    key = spec.build_key()
    name = f"{content.name}-{number}.{format}"
    etag = f"{content.sha256}-{key.rpartition('/')[2]}"
    with translate_storage_errors():
        cached_size = _find_cached_size(key)
        data = b"" if cached_size is not None else _render(spec)
    if cached_size is None and width % CACHED_WIDTH_STEP == 0:
        # If the storage is full or unavailable, the next request renders the image again.
        with suppress(StorageUnavailable):
            files.get_storage().write(key, [data])

    def read_rendered(start: int, end: int) -> Iterator[bytes]:
        return iter([data[start:end]])

    read_range = read_rendered if cached_size is None else build_reader(key)
    size = len(data) if cached_size is None else cached_size
    return Download(
        read=read_range, size=size, media_type=f"image/{format}", name=name, etag=etag, inline=True
    )


class PageImages:
    """Finds or renders page images, and keeps the local copy of the last file.

    The copy is kept until another file is needed or `close` is called. Otherwise, an object store
    would send the file again for each page.
    """

    def __init__(self) -> None:
        self._copy_stack = ExitStack()
        self._sha256: str | None = None
        self._path: Path | None = None

    def find(self, spec: PageImageSpec) -> bytes | None:
        """Return an image from the cache, or render it.

        Returns None if the file is missing or cannot be rendered. Rendered images are not cached,
        because a job may render all pages of an organization. Raises `StorageUnavailable`, and
        `SandboxUnavailable` if no process can be started.
        """
        with suppress(NotStored):
            return b"".join(files.get_storage().stream(spec.build_key()))
        try:
            return self.render(spec)
        except (NotStored, *_RENDER_ERRORS):
            return None

    def render(self, spec: PageImageSpec) -> bytes:
        """Render an image. Raises the errors of `documents.render`, and those of the storage."""
        if spec.text is not None:
            return documents.render_text(
                spec.text, width_px=spec.width, format=spec.format, limits=RENDER_LIMITS
            )
        return documents.render(
            self._get_local_path(spec.sha256),
            spec.media_type,
            spec.number,
            width_px=spec.width,
            format=spec.format,
            limits=RENDER_LIMITS,
        )

    def close(self) -> None:
        """Release the current file, and delete its local copy, if any."""
        self._copy_stack.close()
        self._sha256 = self._path = None

    def _get_local_path(self, sha256: str) -> Path:
        """Return the local path of a file. Raises NotStored if the file is missing."""
        if self._path is None or sha256 != self._sha256:
            self.close()
            key = files.build_content_key(sha256)
            local_copy = files.get_storage().use_local_path(key)
            self._path = self._copy_stack.enter_context(local_copy)
            self._sha256 = sha256
        return self._path


def _find_cached_size(key: str) -> int | None:
    try:
        return files.get_storage().get_size(key)
    except NotStored:
        return None


def _render(spec: PageImageSpec) -> bytes:
    if not _rendering_slots.acquire(blocking=False):
        raise errors.busy(
            "Other pages are being rendered. Try again in a few seconds.",
            retry_after=BUSY_RETRY_SECONDS,
        )
    try:
        with closing(PageImages()) as images:
            return images.render(spec)
    except PageNotFound:
        raise errors.not_found() from None
    except ParseFailed as failure:
        if failure.code == "too_many_pixels":
            raise errors.invalid(failure.message, "width") from None
        raise errors.conflict(failure.message, code=failure.code) from None
    except SandboxUnavailable as failure:
        raise errors.busy(
            "The page cannot be rendered now. Try again in a few seconds.",
            retry_after=SANDBOX_RETRY_SECONDS,
        ) from failure
    finally:
        _rendering_slots.release()
