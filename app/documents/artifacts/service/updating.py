"""Changing a document: what its writers say of it, and reading its file once more."""

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
    """Change what a writer may send; the document. The revision rises once if anything changed.

    Archiving ends the claim and keeps the label sets; taken back, the document has the state that
    follows from them. Emits `artifact.updated`. Raises 404; 409 `stale_precondition`, or `conflict`
    with `details.tag_sets` while there are label sets of another schema than the new one that were
    not rejected; 400 on `schema_id`.
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
    # To Python, true equals 1; to whoever set it in metadata it does not.
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
    """Let text and pages be read anew by a job; the document, which is `processing` until then.

    Ends the claim; emits `artifact.reprocessed`, and `artifact.ingested` once it is ready if it
    never was before. Raises 404; 409 `stale_precondition`, or
    `conflict` with `details.state` (it is being read, or archived) or `details.tag_sets`: the
    places that tags name would mean something else.
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
