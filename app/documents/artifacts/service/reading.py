"""Read documents, their text and their pages."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from sqlalchemy import Row, Select

from app.documents.artifacts.queries import listing
from app.documents.artifacts.queries import reading as queries
from app.documents.artifacts.service import files, words
from app.kit import errors
from app.kit.api.responses import Download
from app.kit.pagination import Page, PageRequest


def list_artifacts(page: PageRequest, **filters: Any) -> Page:
    """Return a page of documents that match `filters`, as in `ArtifactFilters`."""
    return listing.page(page, filters)


def selected_ids(filters: dict[str, Any]) -> Select[Any]:
    """Return a SELECT of the ids of all documents that match the filters."""
    return queries.selected_ids(filters)


def by_ids(artifact_ids: Sequence[UUID], filters: dict[str, Any] | None = None) -> Select[Any]:
    """Return a SELECT of those `artifact_ids` that exist and still match `filters`.

    The full-text search `q` is not repeated.
    """
    return queries.by_ids(artifact_ids, filters)


def get(artifact_id: UUID) -> Row[Any]:
    """Return a document. Raises 404."""
    row = queries.one(artifact_id)
    if row is None:
        raise errors.not_found()
    return row


def show(artifact_id: UUID) -> Any:
    """Return a document as the API shows it, with ids as text; faster than `get`. Raises 404."""
    row = queries.shown(artifact_id)
    if row is None:
        raise errors.not_found()
    return row


def lock(artifact_id: UUID) -> Row[Any]:
    """Return a document, locked against changes until the transaction ends. Raises 404."""
    row = queries.one(artifact_id, lock=True)
    if row is None:
        raise errors.not_found()
    return row


def download(artifact_id: UUID) -> Download:
    """Return the original bytes. Raises 404."""
    row = queries.content(artifact_id)
    if row is None:
        raise errors.not_found()
    key = files.content_key(row.sha256)

    def read(start: int, end: int) -> Any:
        with files.answering():
            return files.storage().stream(key, start, end)

    return Download(
        read=read, size=row.size_bytes, media_type=row.media_type, name=row.name, etag=row.sha256
    )


def get_text(artifact_id: UUID) -> Any:
    """Return a document's text, length in code points, language and spans of pages.

    Raises 404, and 409 before the document is read.
    """
    return files.readable(queries.text(artifact_id))


def list_pages(artifact_id: UUID, page: PageRequest) -> Page:
    """Return a page of pages, with at most `words.ANSWER_BYTES` of words.

    Raises 404, and 409 before the document is read.
    """
    files.readable(queries.content(artifact_id))
    found = queries.pages(page, artifact_id)
    given = words.of_pages(artifact_id, found.items)
    items = [{**row._asdict(), "words": given.get(row.number)} for row in found.items]
    return replace(found, items=items)
