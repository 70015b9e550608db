"""Update the editable properties of a document."""

from typing import Any
from uuid import UUID

import orjson

from app.documents.artifacts import emitted_events
from app.documents.artifacts.emitted_events import UpdatedPayload
from app.documents.artifacts.models.documents import ArtifactRow
from app.documents.artifacts.queries import updating as queries
from app.documents.artifacts.service import ports
from app.documents.artifacts.service.reading import get, lock
from app.kit import errors, events
from app.schemas.artifact_schemas.service import drafts as schemas

set_predictions = queries.set_predictions


def update(
    artifact_id: UUID, *, revision: int | None, changes: dict[str, Any], by: UUID | None
) -> ArtifactRow:
    """Update a document and return it. Does nothing if all `changes` equal the stored values.

    Increases the revision by one, and emits `artifact.updated`. Archiving ends the claim and keeps
    the tag sets; after unarchiving, the status follows from the tag sets. A new schema may also
    change the status. Raises 404; 409 `stale_precondition`; 409 `conflict` with
    `details.tag_sets` if the schema changes and the document has tag sets that are not rejected and
    do not have the new schema; 400 for an unknown `schema_id`.
    """
    artifact = lock(artifact_id, revision)
    changes = {
        name: value
        for name, value in changes.items()
        if not _is_equal(value, getattr(artifact, name))
    }
    if not changes:
        return artifact
    if "schema_id" in changes:
        _check_schema(artifact_id, changes["schema_id"])
    queries.set_properties([artifact_id], changes)
    if changes.keys() & {"schema_id", "archived"}:
        ports.workflow.get().update_statuses([artifact_id])
    payload: UpdatedPayload = {"artifact_id": artifact_id, "changed": sorted(changes), "by": by}
    events.emit(emitted_events.UPDATED, payload)
    return get(artifact_id)


def _is_equal(value: object, stored_value: object) -> bool:
    # In Python True equals 1, but in metadata they are different values.
    if isinstance(value, dict):
        option = orjson.OPT_SORT_KEYS
        return orjson.dumps(value, option=option) == orjson.dumps(stored_value, option=option)
    return value == stored_value


def _check_schema(artifact_id: UUID, schema_id: UUID | None) -> None:
    if schema_id is not None and not schemas.lock_reference(schema_id):
        raise errors.invalid("This schema does not exist.", "schema_id")
    blocking_ids = ports.workflow.get().list_tag_set_ids_of_other_schemas(artifact_id, schema_id)
    if blocking_ids:
        raise errors.conflict(
            "The artifact has tag sets for its current schema. Reject or discard them first.",
            tag_sets=blocking_ids,
        )
