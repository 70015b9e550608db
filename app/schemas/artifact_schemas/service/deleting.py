"""Delete schemas. A job removes a deleted schema from its documents if there are many."""

from uuid import UUID

from app.kit import db, errors, jobs, tenancy
from app.kit.db import Checkpoint
from app.schemas.artifact_schemas import queries
from app.schemas.artifact_schemas.models import ArtifactSchema
from app.schemas.artifact_schemas.service.drafts import check_revision, get
from app.schemas.artifact_schemas.service.ports import get_workflow
from app.schemas.artifact_schemas.statuses import DELETED

DELETE_JOB = "schemas.delete"


def delete(schema_id: UUID, *, revision: int | None) -> None:
    """Delete a schema that has no tag sets, and its versions.

    The schema's documents are kept, but have no schema afterwards. If there are many of them, the
    schema is only marked as deleted, so that nobody finds it any more, and a job deletes the rest.
    Raises 404 if the schema does not exist, 409 `stale_precondition` if `revision` is outdated, or
    409 `conflict` if the schema has tag sets; `details.tag_sets` is their number.
    """
    check_revision(get(schema_id), revision)
    _check_unlabeled(schema_id)
    # Like transactions that create a tag set, lock documents before the schema. In another order,
    # the transactions could deadlock.
    is_empty = _delete_records(schema_id)
    schema = check_revision(queries.lock_schema(schema_id, to_delete=True), revision)
    _check_unlabeled(schema_id)
    if not (is_empty and _delete_row(schema)):
        schema.status = DELETED
        jobs.enqueue(
            DELETE_JOB,
            {"schema_id": str(schema_id)},
            organization_id=tenancy.current_organization_id(),
        )
        db.session().flush()


def finish_deletion(schema_id: UUID, checkpoint: Checkpoint) -> None:
    """Remove a schema that is marked as deleted from its documents, and delete it.

    `checkpoint` commits each batch, so a run after a crash continues with the remaining documents.
    """
    is_deleted = False
    while not is_deleted:
        while not _delete_records(schema_id):
            checkpoint()
        checkpoint()
        schema = queries.lock_deleted_schema(schema_id)
        is_deleted = schema is None or _delete_row(schema)
        checkpoint()


def _delete_records(schema_id: UUID) -> bool:
    """Detach documents and delete predictions, a batch of each; return whether none is left."""
    is_detached = get_workflow().detach_artifacts(schema_id, wait=True)
    return get_workflow().delete_predictions(schema_id) and is_detached


def _delete_row(schema: ArtifactSchema) -> bool:
    """Delete a locked schema, unless a large number of documents was added before the lock."""
    # No new row can refer to the schema now. Do not wait for locked documents, because their
    # transactions may be waiting for the schema.
    if not get_workflow().detach_artifacts(schema.id, wait=False):
        return False
    db.session().delete(schema)
    db.session().flush()
    return True


def _check_unlabeled(schema_id: UUID) -> None:
    """Raise 409 `conflict` if the schema has tag sets."""
    tag_sets = get_workflow().count_tag_sets(schema_id)
    if tag_sets:
        raise errors.conflict(
            "This schema has tag sets; it cannot be deleted. Deactivate it instead.",
            tag_sets=tag_sets,
        )
