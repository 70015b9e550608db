"""Delete schemas. A job then removes a deleted schema from its documents."""

from uuid import UUID

from app.kit import db, errors, jobs, tenancy
from app.kit.db import Checkpoint
from app.schemas.artifact_schemas import queries
from app.schemas.artifact_schemas.models import DELETED, ArtifactSchema
from app.schemas.artifact_schemas.service import ports
from app.schemas.artifact_schemas.service.drafts import get, lock

DELETE_JOB = "schemas.delete"


def delete(schema_id: UUID, *, revision: int | None) -> None:
    """Delete a schema that has no tag sets, and its versions.

    The schema's documents are kept, but have no schema afterwards. This function marks the schema
    as deleted, so that clients cannot find it, and removes it from connectors and routing rules,
    which disables these rules. A job deletes the rows of the schema later. Raises 404, 409
    `stale_precondition`, and 409 `conflict` if the schema has tag sets; `details.tag_sets` is the
    number of tag sets.
    """
    schema = get(schema_id)
    errors.check_revision(revision, schema.revision)
    _check_no_tag_sets(schema)
    schema = lock(schema_id, revision, to_delete=True)
    # No new tag set can refer to the schema now.
    _check_no_tag_sets(schema)
    for clear_reference in ports.workflow.get().clear_references:
        clear_reference(schema_id)
    schema.status = DELETED
    jobs.enqueue(
        DELETE_JOB,
        {"schema_id": str(schema_id)},
        organization_id=tenancy.current_organization_id(),
    )
    db.session().flush()


def finish_deletion(schema_id: UUID, checkpoint: Checkpoint) -> None:
    """Finish the deletion of a schema that `delete` has marked as deleted.

    Removes the schema from its documents, deletes its predictions, and deletes the schema.
    `checkpoint` commits each batch, so a run after a crash continues with the remaining documents.
    """
    workflow = ports.workflow.get()
    is_deleted = False
    while not is_deleted:
        while not workflow.detach_artifacts(schema_id, wait=True):
            checkpoint()
        checkpoint()
        while not workflow.delete_predictions(schema_id):
            checkpoint()
        checkpoint()
        schema = queries.lock_deleted_schema(schema_id)
        is_deleted = schema is None or _delete_row(schema)
        checkpoint()


def _delete_row(schema: ArtifactSchema) -> bool:
    """Delete a locked schema and return True, or return False if documents still refer to it.

    Documents may have been added before the schema was locked.
    """
    # No new row can refer to the schema now. Do not wait for locked documents, because their
    # transactions may be waiting for the schema.
    if not ports.workflow.get().detach_artifacts(schema.id, wait=False):
        return False
    # The deletion can exceed the timeout: for each version, PostgreSQL searches all tag sets and
    # predictions of the organization.
    db.disable_statement_timeout()
    db.session().delete(schema)
    db.session().flush()
    return True


def _check_no_tag_sets(schema: ArtifactSchema) -> None:
    """Raise 409 `conflict` if the schema has tag sets."""
    tag_set_count = ports.workflow.get().count_tag_sets(schema.id)
    if tag_set_count:
        raise errors.conflict(
            "This schema has tag sets; it cannot be deleted. Deactivate it instead.",
            tag_sets=tag_set_count,
        )
