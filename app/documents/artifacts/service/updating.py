"""Update the editable members of a document, and reprocess its file."""

from typing import Any
from uuid import UUID

import orjson

from app.documents.artifacts.queries import updating as queries
from app.documents.artifacts.service.ports import workflow
from app.documents.artifacts.service.reading import get, lock
from app.documents.artifacts.statuses import ArtifactStatus
from app.kit import errors, events


def update(
    artifact_id: UUID, *, revision: int | None, changes: dict[str, Any], by: UUID | None
) -> Any:
    """Update a document and return it. The revision increases by one if anything changed.

    Archiving ends the claim and keeps the tag sets; after unarchiving, the status follows from the
    tag sets. Emits `artifact.updated`. Raises 404; 409 `stale_precondition`; 409 `conflict` with
    `details.tag_sets` if tag sets of another schema than the new one exist that were not rejected;
    400 for an unknown `schema_id`.
    """
    held = lock(artifact_id)
    if revision is not None and revision != held.revision:
        raise errors.stale(held.revision)
    changes = {name: v for name, v in changes.items() if not _same(v, getattr(held, name))}
    if not changes:
        return held
    if "schema_id" in changes:
        _check_schema(artifact_id, changes["schema_id"])
    queries.change(artifact_id, changes)
    if changes.keys() & {"schema_id", "archived"}:
        workflow().update_statuses([artifact_id])
    events.emit(
        "artifact.updated", {"artifact_id": artifact_id, "changed": sorted(changes), "by": by}
    )
    return get(artifact_id)


def _same(value: Any, held: Any) -> bool:
    # In Python True equals 1, but in metadata they are different values.
    if isinstance(value, dict):
        option = orjson.OPT_SORT_KEYS
        return orjson.dumps(value, option=option) == orjson.dumps(held, option=option)
    return bool(value == held)


def _check_schema(artifact_id: UUID, schema_id: UUID | None) -> None:
    if schema_id is not None and not queries.hold_schema(schema_id):
        raise errors.invalid("There is no such schema.", "schema_id")
    blocking = workflow().list_blocking_tag_sets(
        artifact_id, of_other_schema_than=schema_id, all_statuses=False
    )
    if blocking:
        raise errors.conflict(
            "The artifact has tag sets of its schema. Reject or discard them first.",
            tag_sets=blocking,
        )


def reprocess(artifact_id: UUID, *, revision: int | None, by: UUID | None) -> Any:
    """Queue a document for parsing again and return it; it is `processing` until a job has run.

    Ends the claim. Emits `artifact.reprocessed`; the job emits `artifact.ingested` if the document
    was never ready before. Raises 404; 409 `stale_precondition`; 409 `conflict` with
    `details.state` if it is being processed or archived, or with `details.tag_sets` if it has tag
    sets, because their positions would refer to different text.
    """
    held = lock(artifact_id)
    if revision is not None and revision != held.revision:
        raise errors.stale(held.revision)
    if held.status == ArtifactStatus.PROCESSING or held.archived:
        state = "archived" if held.archived else held.status
        raise errors.conflict(f"The document is {state}.", state=state)
    blocking = workflow().list_blocking_tag_sets(artifact_id, all_statuses=True)
    if blocking:
        raise errors.conflict(
            "The artifact has tag sets, whose tags refer to positions in the present text.",
            tag_sets=blocking,
        )
    queries.read_anew(artifact_id)
    events.emit("artifact.reprocessed", {"artifact_id": artifact_id, "by": by})
    return get(artifact_id)
