"""Downloads of stored files, and the errors that clients get for failures of the file storage."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.kit import container, errors
from app.kit.api.responses import Download
from app.kit.errors import ApiError
from app.kit.storage import NotStored, StorageFull, StorageUnavailable

LINK_SECONDS = 300
"""The lifetime in seconds of a signed link to a file in the object store."""


@contextmanager
def translate_storage_errors(
    build_missing_error: Callable[[], ApiError] = errors.not_found,
) -> Iterator[None]:
    """Translate storage errors: to `build_missing_error()` for a missing file, else to a 503 error.

    StorageFull is not translated here (see `app.kit.capacity`).
    """
    try:
        yield
    except NotStored:
        raise build_missing_error() from None
    except StorageFull:
        raise
    except StorageUnavailable as failure:
        raise errors.storage_unavailable() from failure


def build_reader(
    key: str, build_missing_error: Callable[[], ApiError] = errors.not_found
) -> Callable[[int, int], Iterator[bytes]]:
    """Return the function that reads a stored file for a `Download`.

    The function raises `build_missing_error()` if there is no file, and 503 while the storage is
    unavailable.
    """

    def read(start: int, end: int) -> Iterator[bytes]:
        with translate_storage_errors(build_missing_error):
            return container.current().storage.stream(key, start, end)

    return read


def build_linked_download(
    key: str,
    *,
    size: int,
    media_type: str,
    name: str,
    sha256: str,
    build_missing_error: Callable[[], ApiError],
    on_send: Callable[[bool], None] | None = None,
) -> Download:
    """Return a download that may redirect to the object store if DOWNLOAD_LINKS is on.

    Raises `build_missing_error()` if the file does not exist, and 503 while the storage is
    unavailable.
    """

    def link() -> str | None:
        if not container.settings().download_links:
            return None
        with translate_storage_errors(build_missing_error):
            return container.current().storage.sign_link(
                key, name=name, media_type=media_type, seconds=LINK_SECONDS
            )

    with translate_storage_errors(build_missing_error):
        container.current().storage.get_size(key)
    return Download(
        build_reader(key, build_missing_error),
        size,
        media_type,
        name,
        sha256,
        on_send=on_send,
        link=link,
    )
