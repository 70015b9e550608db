"""The stored files of documents and page images, and a check that a document is readable."""

from typing import TypeVar

from app.documents.artifacts.queries.reading import ArtifactContent, TextRow
from app.documents.artifacts.statuses import UNREADABLE_STATUSES
from app.kit import container, errors, tenancy
from app.kit.errors import ApiError
from app.kit.storage import Storage, build_blob_key


def get_storage() -> Storage:
    """Return the storage of the current process."""
    return container.current().storage


def build_content_key(sha256: str) -> str:
    """Build the storage key of the file with this digest in the current organization."""
    return build_blob_key(tenancy.current_organization_id(), sha256)


def build_page_images_prefix(sha256: str) -> str:
    """Build the prefix of the storage keys for the page images of a file."""
    return f"{build_content_key(sha256)}.pages"


def delete_content(sha256: str) -> None:
    """Delete the file with this digest. The caller must have locked the content."""
    get_storage().delete(build_content_key(sha256))


def delete_page_images(sha256: str) -> None:
    """Delete the page images of the file with this digest."""
    for _ in get_storage().clear(build_page_images_prefix(sha256)):
        pass


_RowT = TypeVar("_RowT", ArtifactContent, TextRow)


def require_readable(row: _RowT | None) -> _RowT:
    """Return the row of a document if the document has been read.

    Raises 404 if `row` is None, or 409 with the status if the document has not been read.
    """
    readable_row = errors.require_found(row)
    if readable_row.status in UNREADABLE_STATUSES:
        raise _build_not_ready_error(readable_row.status)
    return readable_row


def _build_not_ready_error(state: str) -> ApiError:
    """Build the 409 error for a document without text and pages (processing or failed)."""
    if state == "failed":
        return errors.conflict(
            "The document could not be read. Reprocess it, or upload another file.", state=state
        )
    return errors.conflict("The document is still being processed. Try again shortly.", state=state)
