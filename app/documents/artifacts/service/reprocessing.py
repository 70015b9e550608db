"""Reprocess documents, and index the documents in the backlog of the full-text index."""

from collections.abc import Sequence
from uuid import UUID

from app.documents.artifacts import emitted_events
from app.documents.artifacts.emitted_events import ReprocessedPayload
from app.documents.artifacts.models.documents import ArtifactRow
from app.documents.artifacts.queries import searching
from app.documents.artifacts.queries import updating as queries
from app.documents.artifacts.service import ports
from app.documents.artifacts.service.reading import get, lock
from app.documents.artifacts.statuses import ArtifactStatus
from app.kit import errors, events, tenancy
from app.kit.db import Checkpoint
from app.kit.logging import get_logger

FailedSelection = queries.FailedSelection
count_failed_documents = queries.count_failed_documents
find_failed_ids = queries.find_failed_ids
list_failed_documents = queries.list_failed_documents

log = get_logger(__name__)


def reprocess_as_job(artifact_id: UUID, *, revision: int | None, by: UUID | None) -> ArtifactRow:
    """Reprocess a document, and create the ingestion job that shows its progress.

    Raises the errors of `reprocess`.
    """
    artifact = reprocess(artifact_id, revision=revision, by=by)
    ports.intake.get().create_reprocess_job(artifact_id, name=artifact.name, created_by=by)
    return artifact


def reprocess(artifact_id: UUID, *, revision: int | None, by: UUID | None) -> ArtifactRow:
    """Reprocess a document: queue it for parsing, and return it as `processing`.

    Ends the claim. Emits `artifact.reprocessed`; parsing emits `artifact.ingested` if the document
    was never ready before. Raises 404; 409 `stale_precondition`; 409 `conflict` with
    `details.state` if the document is archived or already `processing`, or with `details.tag_sets`
    if it has tag sets, because their positions would refer to another text.
    """
    artifact = lock(artifact_id, revision)
    if artifact.status == ArtifactStatus.PROCESSING or artifact.archived:
        state = "archived" if artifact.archived else artifact.status
        raise errors.conflict(
            f"The document is {state}; it cannot be reprocessed now.", state=state
        )
    blocking_ids = ports.workflow.get().list_tag_set_ids(artifact_id)
    if blocking_ids:
        raise errors.conflict(
            "The artifact has tag sets, which refer to positions in the current text. Discard its"
            " drafts first. If it has tag sets that are not drafts, it cannot be reprocessed.",
            tag_sets=blocking_ids,
        )
    queries.set_processing([artifact_id])
    payload: ReprocessedPayload = {"artifact_id": artifact_id, "by": by}
    events.emit(emitted_events.REPROCESSED, payload)
    return get(artifact_id)


def reprocess_failed(artifact_ids: Sequence[UUID], *, by: UUID | None) -> set[UUID]:
    """Reprocess failed documents: queue them for parsing, and return their ids.

    Ignores archived documents, documents with tag sets, and documents with other statuses. Emits
    `artifact.reprocessed` for each queued document.
    """
    reopened_ids = queries.reopen_failed(artifact_ids)
    payloads: list[ReprocessedPayload] = [
        {"artifact_id": artifact_id, "by": by} for artifact_id in reopened_ids
    ]
    events.emit_many(emitted_events.REPROCESSED, payloads)
    return set(reopened_ids)


def index_backlog(checkpoint: Checkpoint) -> None:
    """Index the documents of every organization in the backlog, batch by batch.

    `checkpoint` commits each batch, so a run after a crash continues with the next batch.
    """
    for organization_id in searching.list_organization_ids_with_backlog():
        while _index_batch(organization_id):
            checkpoint()
        checkpoint()
        log.info("artifacts.indexed", organization=str(organization_id))


def _index_batch(organization_id: UUID) -> bool:
    with tenancy.organization(organization_id):
        return searching.index_batch()
