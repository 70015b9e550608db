"""Archive many documents, and delete documents: one, many, or after their retention time."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, TypedDict, Unpack
from uuid import UUID

from app.documents.artifacts import emitted_events
from app.documents.artifacts.emitted_events import ArchivedPayload, DeletedPayload
from app.documents.artifacts.models.documents import ArtifactRow
from app.documents.artifacts.queries import search_pages
from app.documents.artifacts.queries import updating as queries
from app.documents.artifacts.queries.updating import LockedArtifact
from app.documents.artifacts.service import ports
from app.documents.artifacts.service.reading import lock
from app.kit import bulk, db, errors, events
from app.kit.chunks import split_by_size
from app.kit.db import Checkpoint
from app.kit.errors import ApiError
from app.kit.logging import get_logger

select_ids = search_pages.select_ids

MAX_PAGES = 5000
"""The maximum number of pages that one statement deletes, unless a single document has more.
Deleting a thousand scans with hundreds of pages would exceed the statement timeout."""

log = get_logger(__name__)


class DocumentSelection(TypedDict, total=False):
    """The documents to change: by id, or all documents that match a filter.

    `expected_count` is the number of documents that the filter must match.
    """

    artifact_ids: Sequence[UUID]
    filter: dict[str, Any]
    expected_count: int


def archive_many(
    *, archived: bool, by: UUID | None, **selection: Unpack[DocumentSelection]
) -> dict[str, Any]:
    """Archive or unarchive documents by id or by filter; return the result for each document.

    As with a single document, archiving ends claims and keeps tag sets. Emits `artifacts.archived`
    for each batch of 1,000 documents. With a filter, each batch is a separate transaction
    (`bulk.run_in_batches`). Raises 409 `conflict` with `details.count` if the filter matches a
    number of documents other than `expected_count`.
    """

    def apply(artifacts: Sequence[LockedArtifact]) -> None:
        changed_ids = [artifact.id for artifact in artifacts if artifact.archived != archived]
        if not changed_ids:
            return
        if archived:
            queries.set_properties(changed_ids, {"archived": True})
            # The status of a document without a claim does not change.
            claimed_ids = [
                artifact.id for artifact in artifacts if artifact.claim_user_id is not None
            ]
            ports.workflow.get().update_statuses(claimed_ids)
        else:
            ports.workflow.get().unarchive(changed_ids)
        payload: ArchivedPayload = {
            "artifact_ids": changed_ids,
            "archived": archived,
            "count": len(changed_ids),
            "by": by,
        }
        events.emit(emitted_events.ARCHIVED, payload)

    return _apply_to_selection(apply, **selection)


def delete(artifact_id: UUID, revision: int | None) -> None:
    """Delete a document with its tag sets.

    Emits `artifact.deleted`; a job then deletes the files. Raises 404, and 409 `stale_precondition`
    if `revision` is neither None nor the current revision.
    """
    _delete([lock(artifact_id, revision)])


def delete_many(**selection: Unpack[DocumentSelection]) -> dict[str, Any]:
    """Delete documents and their tag sets, by id or by filter; return the result for each document.

    Emits `artifact.deleted` for each document; a job then deletes the files. Transactions and
    errors are the same as in `archive_many`.
    """
    return _apply_to_selection(_delete, **selection)


def _delete(artifacts: Sequence[LockedArtifact | ArtifactRow]) -> None:
    for batch in split_by_size(artifacts, lambda artifact: artifact.page_count or 0, MAX_PAGES):
        queries.delete_many([artifact.id for artifact in batch])
    payloads: list[DeletedPayload] = [
        {"artifact_id": artifact.id, "sha256": artifact.sha256} for artifact in artifacts
    ]
    events.emit_many(emitted_events.DELETED, payloads)


def _apply_to_selection(
    apply: Callable[[Sequence[LockedArtifact]], None],
    *,
    artifact_ids: Sequence[UUID] = (),
    filter: dict[str, Any] | None = None,  # noqa: A002 - named as in the body
    expected_count: int | None = None,
) -> dict[str, Any]:
    """Apply a function to documents by id or, in batches, by filter; return the bulk result."""

    def apply_to_ids(ids: Sequence[UUID], filters: dict[str, Any] | None) -> dict[UUID, ApiError]:
        artifacts = queries.lock_matching_documents(ids, filters)
        if artifacts:
            apply(artifacts)
        return bulk.build_not_found_errors(ids, [artifact.id for artifact in artifacts])

    if filter is None:
        return bulk.build_result(artifact_ids, apply_to_ids(artifact_ids, None))
    matched_ids = bulk.find_ids(search_pages.select_ids(filter), expected_count=expected_count)
    return bulk.run_in_batches(
        matched_ids, lambda ids: build_missing_errors(apply_to_ids(ids, filter))
    )


def build_missing_errors(not_found_errors: dict[UUID, ApiError]) -> dict[UUID, ApiError]:
    """Build the errors for documents that matched a filter before and no longer match it.

    Documents that still exist get a 409, because they have changed. Deleted documents keep the 404.
    """
    existing_ids = queries.find_existing_ids(list(not_found_errors)) if not_found_errors else []
    error = errors.conflict("The document has changed and no longer matches the filter.")
    return not_found_errors | dict.fromkeys(existing_ids, error)


def delete_expired_documents(days: int, checkpoint: Checkpoint) -> int:
    """Delete the organization's documents that are older than `days` days, in any status.

    Emits `artifact.deleted` for each document. `checkpoint` commits each batch, so a run after a
    crash continues with the remaining documents. Returns how many documents were deleted.
    """
    created_before = db.utc_now() - timedelta(days=days)
    deleted_count = 0
    while artifacts := queries.lock_documents_created_before(created_before, limit=bulk.BATCH_SIZE):
        _delete(artifacts)
        checkpoint()
        deleted_count += len(artifacts)
        log.info("artifacts.retention", deleted=deleted_count, days=days)
    return deleted_count
