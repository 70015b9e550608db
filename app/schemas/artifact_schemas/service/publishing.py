"""Publish, activate and deactivate schemas, and enable and disable AI assistance."""

from typing import Any
from uuid import UUID

from app.engines.fields import compare
from app.kit import db, errors, events, plan_limits
from app.kit.errors import ApiError
from app.kit.ids import uuid7
from app.kit.plan_limits import Meter
from app.schemas.artifact_schemas import emitted_events
from app.schemas.artifact_schemas.emitted_events import PublishedPayload
from app.schemas.artifact_schemas.models import ArtifactSchema, SchemaVersion
from app.schemas.artifact_schemas.service import versions
from app.schemas.artifact_schemas.service.drafts import DEFAULT_POLICY, lock
from app.schemas.artifact_schemas.transitions import TRANSITIONS, Action, SchemaStatus


def publish(
    schema_id: UUID,
    *,
    revision: int | None,
    published_by: UUID,
    base_version: int | None = None,
    note: str | None = None,
    allow_breaking: bool = False,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Publish the draft as the next version; return the version's properties and `dry_run`.

    Emits `schema.published`. A dry run writes nothing, and returns the changes even if they are
    breaking. `base_version` is the number of the version on which the draft is based, or 0 if the
    schema had no version. It must still be the current version; if it is None, this is not checked.

    Raises 404 if the schema does not exist, and 409 `stale_precondition` if `revision` is outdated.
    Raises 409 `schema_version_conflict` if `base_version` is not the current version. Raises 400 if
    the draft has no fields, and 400 `schema_breaking_change` if there are breaking changes and
    `allow_breaking` is not set.
    """
    schema = lock(schema_id, revision)
    _check_base_version(schema, base_version)
    if not schema.fields:
        raise errors.invalid("A version needs at least one field.", "fields")
    changes = _list_changes(schema)
    breaking_changes = [change for change in changes if change["breaking"]]
    if breaking_changes and not (allow_breaking or dry_run):
        raise ApiError(
            "schema_breaking_change",
            "The changes break existing tag sets. Send `allow_breaking` to publish them anyway.",
            details={"changes": breaking_changes},
        )
    version = _build_version(schema, changes, published_by=published_by, note=note)
    if not dry_run:
        _store_version(schema, version)
    return {**version, "dry_run": dry_run}


def _build_version(
    schema: ArtifactSchema, changes: list[dict[str, Any]], *, published_by: UUID, note: str | None
) -> dict[str, Any]:
    return {
        "id": None,
        "schema_id": schema.id,
        "number": schema.current_version_number + 1,
        "fields": schema.fields,
        "review_policy": schema.review_policy,
        "published_by": published_by,
        "published_at": None,
        "changes": changes,
        "breaking": any(change["breaking"] for change in changes),
        "note": note,
        "created_at": None,
        "updated_at": None,
    }


def _store_version(schema: ArtifactSchema, version: dict[str, Any]) -> None:
    previous_version = schema.current_version_id and versions.get_version(schema.current_version_id)
    now = db.utc_now()
    version.update(id=uuid7(), published_at=now, created_at=now, updated_at=now)
    db.session().add(SchemaVersion(**version))
    schema.current_version_id = version["id"]
    schema.current_version_number = version["number"]
    schema.current_version_published_at = now
    payload: PublishedPayload = {
        "schema_id": schema.id,
        "schema_version_id": version["id"],
        "number": version["number"],
        "by": version["published_by"],
        "labels_per_artifact": _get_required_labels(version["review_policy"]),
        "labels_per_artifact_before": (
            _get_required_labels(previous_version.review_policy) if previous_version else None
        ),
    }
    events.emit(emitted_events.PUBLISHED, payload)


def _get_required_labels(policy: dict[str, Any]) -> int:
    required_labels: int = {**DEFAULT_POLICY, **policy}["labels_per_artifact"]
    return required_labels


def _check_base_version(schema: ArtifactSchema, base_version: int | None) -> None:
    if base_version is not None and base_version != schema.current_version_number:
        raise ApiError(
            "schema_version_conflict",
            "`base_version` is outdated; compare the draft with the current version.",
            field="base_version",
            details={"current_version": schema.current_version_number},
        )


def _list_changes(schema: ArtifactSchema) -> list[dict[str, Any]]:
    """Return the changes from the current version to the draft; the first version has none."""
    if schema.current_version_id is None:
        return []
    current_version = versions.get_version(schema.current_version_id)
    return [change.as_dict() for change in compare(current_version.fields, schema.fields)]


def activate(schema_id: UUID, *, revision: int | None) -> ArtifactSchema:
    """Activate a schema, so that it accepts new tag sets. Repeated calls change nothing.

    Raises 404 if the schema does not exist, 409 `stale_precondition` if `revision` is outdated, 409
    `conflict` if the schema has no published version, and 402 `plan_limit_reached` if the plan does
    not allow another active schema.
    """
    schema = lock(schema_id, revision)
    if schema.current_version_id is None:
        raise errors.conflict("Publish the schema before activating it.", state=schema.status)
    if schema.status != SchemaStatus.ACTIVE:
        plan_limits.reserve(Meter.ACTIVE_SCHEMAS)
    return _change_status(schema, Action.ACTIVATE)


def deactivate(schema_id: UUID, *, revision: int | None) -> ArtifactSchema:
    """Deactivate a schema, so that it does not accept new tag sets.

    Raises 404 if the schema does not exist, 409 `stale_precondition` if `revision` is outdated, and
    409 `conflict` if the schema was never active.
    """
    schema = lock(schema_id, revision)
    return _change_status(schema, Action.DEACTIVATE)


def _change_status(schema: ArtifactSchema, action: Action) -> ArtifactSchema:
    """Apply an action to a locked schema. Raises 409 `conflict` if the status forbids it."""
    sources, target = TRANSITIONS[action]
    if schema.status not in sources:
        # Draft is the only status that forbids an action.
        raise errors.conflict("The schema was never activated; it is a draft.", state=schema.status)
    schema.status = target
    db.session().flush()
    return schema


def set_ai_assist(schema_id: UUID, *, revision: int | None, enabled: bool) -> ArtifactSchema:
    """Enable or disable AI assistance for the fields of a schema that allow it.

    Existing predictions are kept. Raises 404; 409 `stale_precondition` if `revision` is outdated.
    """
    schema = lock(schema_id, revision)
    schema.ai_assist_enabled = enabled
    db.session().flush()
    return schema
