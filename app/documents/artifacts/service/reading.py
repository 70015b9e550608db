"""Read documents, their text and their pages."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

from app.documents.artifacts.models.documents import ArtifactRow
from app.documents.artifacts.queries import reading as queries
from app.documents.artifacts.queries.reading import TextRow
from app.documents.artifacts.service import files, words
from app.documents.artifacts.service.words import PageSpan
from app.kit import errors
from app.kit.api.responses import Download
from app.kit.pagination import Page, PageRequest
from app.kit.storage import NotStored
from app.kit.stored_files import build_reader

select_matching = queries.select_matching


def get(artifact_id: UUID) -> ArtifactRow:
    """Return a document by its id. Raises 404 if it does not exist."""
    return errors.require_found(queries.find(artifact_id))


def get_api_row(artifact_id: UUID) -> tuple[object, ...]:
    """Return a document as `get` does, but faster and with ids as strings. Raises 404."""
    return errors.require_found(queries.find_api_row(artifact_id))


def lock(artifact_id: UUID, revision: int | None = None) -> ArtifactRow:
    """Lock a document against changes until the transaction ends, and return it.

    Raises 404, and 409 `stale_precondition` if `revision` is neither None nor the current revision.
    """
    row = errors.require_found(queries.find(artifact_id, lock=True))
    errors.check_revision(revision, row.revision)
    return row


def is_newest_file_stored() -> bool:
    """Return whether the storage has the file of the organization's newest unarchived document.

    Returns True if there is no such document. Raises StorageUnavailable.
    """
    digest = queries.find_newest_digest()
    return digest is None or files.get_storage().exists(files.build_content_key(digest))


def download(artifact_id: UUID) -> Download:
    """Return a download of the original bytes of a document. Raises 404."""
    content = errors.require_found(queries.find_content(artifact_id))
    return Download(
        read=build_reader(files.build_content_key(content.sha256)),
        size=content.size_bytes,
        media_type=content.media_type,
        name=content.name,
        etag=content.sha256,
    )


def open_content(sha256: str) -> Iterator[bytes] | None:
    """Open the file with this digest for a job: return its chunks, or None if it is missing.

    Raises `StorageUnavailable`.
    """
    try:
        return files.get_storage().stream(files.build_content_key(sha256))
    except NotStored:
        return None


def get_text(artifact_id: UUID) -> TextRow:
    """Return a document's text, its length in code points, its language and its page spans.

    Raises 404, or 409 if the document could not be read or is not yet read.
    """
    return files.require_readable(queries.find_text(artifact_id))


def list_pages(artifact_id: UUID, page: PageRequest) -> Page:
    """Return one result page of the pages of a document, with their words.

    All words together have at most `words.MAX_WORDS_BYTES`, but the first page always has its
    words. `words` is None for the first page that does not fit and for all later pages. Raises 404,
    or 409 if the document could not be read or is not yet read.
    """
    files.require_readable(queries.find_content(artifact_id))
    rows_page = queries.list_pages(page, artifact_id)
    rows = rows_page.items
    spans = [PageSpan(row.number, row.start, row.end) for row in rows]
    is_virtual = bool(rows) and rows[0].is_virtual
    words_by_page = words.read_words(artifact_id, spans, is_virtual=is_virtual)
    items = [{**row._asdict(), "words": words_by_page.get(row.number)} for row in rows]
    return replace(rows_page, items=items)
