"""Create, save and delete drafts."""

from typing import Any
from uuid import UUID

from app.documents.artifacts.models.documents import ArtifactRow
from app.documents.artifacts.service import reading as artifact_reading
from app.documents.artifacts.service import texts
from app.documents.artifacts.statuses import OPEN_FOR_TAG_SETS
from app.engines.agreement.comparing import diff
from app.engines.fields import CompiledFields
from app.identity.organizations import service as organizations
from app.kit import errors, events
from app.kit.errors import ApiError
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.schemas.artifact_schemas.models import CurrentVersion
from app.schemas.artifact_schemas.service import versions
from app.workflow.tag_sets import emitted_events
from app.workflow.tag_sets.emitted_events import SavedPayload, build_payload
from app.workflow.tag_sets.queries import deciding, related, revisions, skips, statuses
from app.workflow.tag_sets.queries import drafts as queries
from app.workflow.tag_sets.queries.drafts import TagSetToSave
from app.workflow.tag_sets.queries.reading import TagSetRow
from app.workflow.tag_sets.service import decisions, provenance, reading, rules
from app.workflow.tag_sets.service.comparing import summarize_changes
from app.workflow.tag_sets.service.ports import PredictedTags
from app.workflow.tag_sets.transitions import COMPLETED, Action, TagSetStatus

_NO_MERGE_VALUES = {"merged_from": None, "provenance": None, "superseded_by": None}


def create(artifact_id: UUID, *, caller: Caller, source: str) -> TagSetRow:
    """Create a draft for an artifact, and claim the artifact unless another user has claimed it.

    `source` is `empty`, `prediction` to copy the latest prediction, or the id of a tag set to copy.
    The draft records the prediction from which it was started. Tags that do not fit the schema's
    current version are not copied. Emits `tag_set.created`.

    Raises 404; 400 on the field `from` for an invalid `source`; 409 `conflict`. The details of a
    conflict contain `state` (of the artifact or the schema), `missing`, `claim`, `reserved` or
    `tag_set_id`.
    """
    artifact = artifact_reading.lock(artifact_id)
    version = _get_version(artifact)
    version_rules = rules.get_version_rules(version.id)
    _check_can_create(artifact, caller, version_rules)
    original = _find_source(source, artifact_id, caller)
    values = {
        "artifact_id": artifact_id,
        "schema_id": version.schema_id,
        "schema_version_id": version.id,
        "labeler_id": caller.user_id,
        "tags": [] if original is None else _copy_tags(original, artifact, version_rules.fields),
        **_build_prediction_columns(original),
        # Independent tag sets do not inherit the rejections of other labelers.
        "earlier_rejections": queries.count_rejections(
            artifact_id,
            version.schema_id,
            labeler_id=caller.user_id if version_rules.requires_multiple_labelers else None,
        ),
    }
    tag_set = queries.insert_tag_set(values, author_id=caller.user_id)
    queries.claim_artifacts({artifact_id: caller.user_id}, minutes=rules.get_claim_minutes(caller))
    statuses.update_statuses([artifact_id])
    events.emit(emitted_events.CREATED, build_payload(tag_set))
    return reading.get(tag_set.id, caller=caller)


def _get_version(artifact: ArtifactRow) -> CurrentVersion:
    """Return the schema version for a new draft. Raises 409 if the artifact cannot be labeled."""
    if artifact.status not in OPEN_FOR_TAG_SETS or artifact.archived:
        state = "archived" if artifact.archived else artifact.status
        message = f"The artifact cannot be labeled; its state is {state}."
        raise errors.conflict(message, state=state)
    if artifact.schema_id is None:
        raise errors.conflict(
            "The artifact has no schema; assign a schema first.", missing="schema"
        )
    return versions.get_active_version(artifact.schema_id)


def _check_can_create(
    artifact: ArtifactRow, caller: Caller, version_rules: rules.VersionRules
) -> None:
    blocking_statuses = rules.get_blocking_statuses(version_rules.labels_per_artifact)
    other_id = deciding.find_id_by_labeler(artifact.id, caller.user_id, blocking_statuses)
    if other_id is not None:
        raise errors.conflict(
            "You already have a tag set for this artifact; use that tag set.", tag_set_id=other_id
        )
    claim = artifact.claim
    if (
        claim is not None
        and claim["user_id"] != str(caller.user_id)
        and not version_rules.requires_multiple_labelers
    ):
        raise errors.conflict("Another user has claimed this artifact.", claim=claim)
    completed_ids = deciding.list_ids(artifact.id, COMPLETED)
    reserved_for = statuses.list_reservation_user_ids(artifact.id)
    reserved_count = sum(user_id != caller.user_id for user_id in reserved_for)
    if reserved_count and len(completed_ids) + reserved_count >= version_rules.labels_per_artifact:
        raise errors.conflict(
            "This artifact is reserved for a labeler who has started a draft.", reserved=True
        )
    if len(completed_ids) >= version_rules.labels_per_artifact or deciding.list_ids(
        artifact.id, (TagSetStatus.ACCEPTED,), source="merge"
    ):
        raise errors.conflict(
            "This artifact does not need another tag set.",
            state=artifact.status,
            labels_per_artifact=version_rules.labels_per_artifact,
        )


def _find_source(
    source: str, artifact_id: UUID, caller: Caller
) -> TagSetRow | PredictedTags | None:
    """Return the prediction or tag set to copy, or None for an empty draft.

    Raises 400 on the field `from` if the source does not exist or is hidden from the caller. A
    hidden source must not influence a labeler who labels blind.
    """
    if source == "empty":
        return None
    original: TagSetRow | PredictedTags | None
    if source == "prediction":
        original = reading.find_latest_prediction(artifact_id, caller=caller)
    else:
        original = _find_tag_set(source, artifact_id, caller)
    if original is None:
        raise errors.invalid(
            "Must be `empty`, the id of a tag set for this artifact, or, if the artifact has a"
            " prediction, `prediction`.",
            "from",
        )
    return original


def _find_tag_set(source: str, artifact_id: UUID, caller: Caller) -> TagSetRow | None:
    try:
        row = reading.find(UUID(source), caller=caller)
    except ValueError:
        return None
    return row if row is not None and row.artifact_id == artifact_id else None


def _build_prediction_columns(original: TagSetRow | PredictedTags | None) -> dict[str, object]:
    if original is None:
        return {}
    if isinstance(original, TagSetRow):
        # A copy keeps the prediction from which the copied tag set was started.
        prediction = original.prediction or {"id": None, "model_version": None}
        prediction_id = prediction["id"]
        return {
            "prediction_id": None if prediction_id is None else UUID(prediction_id),
            "prediction_model_version": prediction["model_version"],
        }
    return {"prediction_id": original.id, "prediction_model_version": original.model_version}


def _copy_tags(
    original: TagSetRow | PredictedTags, artifact: ArtifactRow, fields: CompiledFields
) -> list[dict[str, Any]]:
    return fields.keep_valid_tags(
        original.tags,
        text_length=artifact.text_length,
        page_count=artifact.page_count or 0,
        source=texts.build_source_text(artifact.id, artifact.updated_at),
    )


def replace_tags(
    tag_set_id: UUID,
    *,
    caller: Caller,
    tags: list[Any],
    revision: int | None,
    seconds_spent: int | None = None,
) -> dict[str, Any]:
    """Save a draft's new tags as a revision, renew the labeler's claim, and emit `tag_set.saved`.

    Callers with an API key may set any source. Otherwise, the source of a tag becomes `human`,
    unless the tag is unchanged from the draft or the latest prediction. Raises 404; 403 for another
    labeler's draft; 400 for an invalid tag; 409 `conflict` if the tag set is not a draft; 409
    `stale_precondition` if `revision` is outdated, with the later changes in its details.
    """
    tag_set = errors.require_found(queries.lock(tag_set_id))
    rules.check_labeler(caller, tag_set)
    version_rules = rules.get_version_rules(tag_set.schema_version_id)
    rules.check_state(tag_set, Action.SAVE, None)
    if revision is not None and revision != tag_set.revision:
        raise _build_stale_error(tag_set, revision, version_rules)
    checked_tags = rules.check_tags(version_rules, tags, tag_set)
    if not provenance.can_keep_sources(checked_tags, caller):
        provenance.set_sources(checked_tags, _list_known_tags(checked_tags, tag_set, caller))
    columns = queries.save(
        tag_set,
        checked_tags,
        author_id=caller.user_id,
        seconds_spent=seconds_spent,
        claim_minutes=rules.get_claim_minutes(caller),
        draft_hours=organizations.get_draft_hours(caller.org.settings),
    )
    result = {**tag_set._asdict(), **columns._asdict(), "tags": checked_tags, **_NO_MERGE_VALUES}
    payload: SavedPayload = {
        **build_payload(tag_set),
        "revision": columns.revision,
        "author_id": caller.user_id,
    }
    events.emit(emitted_events.SAVED, payload)
    return result


def _list_known_tags(
    new_tags: list[dict[str, Any]], draft: TagSetToSave, caller: Caller
) -> list[dict[str, Any]]:
    """Return the tags that may keep their source: the draft's stored tags, and predicted tags.

    Predicted tags are included only if one of `new_tags` has a source other than `human`, and is
    not one of the stored tags.
    """
    known_tags = queries.get_tags(draft.id)
    non_human_tags = [tag for tag in new_tags if tag["source"] != "human"]
    if not provenance.find_missing_tags(non_human_tags, known_tags):
        return known_tags
    prediction = reading.find_latest_prediction(draft.artifact_id, caller=caller)
    predicted_tags = [] if prediction is None else prediction.tags
    return [*known_tags, *provenance.find_missing_tags(predicted_tags, known_tags)]


def _build_stale_error(
    draft: TagSetToSave, base_revision: int, version_rules: rules.VersionRules
) -> ApiError:
    """Build the error for a save that is based on the outdated revision `base_revision`.

    `details.changes` lists the changes since that revision, or is None if the revision does not
    exist. `details.truncated` is true if changes were omitted.
    """
    tags_by_number = revisions.get_tags(draft.id, (base_revision, draft.revision))
    if base_revision not in tags_by_number:
        return errors.stale(draft.revision, changes=None, truncated=False)
    # Rows are compared by number, not by content, because clients merge tags by row number.
    summary = summarize_changes(
        diff(
            tags_by_number[base_revision], tags_by_number[draft.revision], version_rules.field_specs
        )
    )
    return errors.stale(draft.revision, changes=summary["entries"], truncated=summary["truncated"])


def delete(tag_set_id: UUID, *, caller: Caller, revision: int | None) -> None:
    """Delete a draft with its revisions, release its labeler's claim, and emit `tag_set.deleted`.

    Only an admin may delete a draft that was rejected or reopened, because its revisions are a
    record of the decisions. A source of a merge cannot be deleted, because the merge refers to it.

    Raises 404; 403 for another labeler's draft; 409 `stale_precondition`; 409 `conflict`. The
    details of a conflict are `state`, `rejections` (a returned draft), or `merges`.
    """
    draft = decisions.lock(tag_set_id)
    rules.check_labeler(caller, draft)
    rules.check_state(draft, Action.DELETE, revision)
    if draft.submitted_at is not None and not caller.has_role(Role.admin):
        raise errors.conflict(
            "A tag set that was returned to you cannot be deleted. Release the artifact with a"
            " reason instead.",
            rejections=draft.rejections,
        )
    merge_ids = related.list_merge_ids_by_source(tag_set_id, draft.artifact_id)
    if merge_ids:
        raise errors.conflict(
            "This tag set is a source of a merge, so it cannot be deleted.", merges=merge_ids
        )
    queries.delete_tag_set(tag_set_id)
    skips.record_action(draft.artifact_id, "discard", by=caller.user_id, tag_set_id=tag_set_id)
    queries.release_claim(draft.artifact_id, draft.labeler_id)
    statuses.update_statuses([draft.artifact_id])
    events.emit(emitted_events.DELETED, build_payload(draft))
