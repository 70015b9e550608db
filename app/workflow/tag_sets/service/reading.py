"""Read the tag sets that the caller may see."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Select

from app.kit import errors
from app.kit.pagination import Page, PageRequest
from app.kit.principal import Caller
from app.workflow.tag_sets.queries import listing, reading, revisions, skips
from app.workflow.tag_sets.queries.reading import TagSetRow
from app.workflow.tag_sets.service import ports, rules
from app.workflow.tag_sets.service.ports import PredictedTags
from app.workflow.tag_sets.transitions import TagSetStatus

select_actions = skips.select_actions


def get(tag_set_id: UUID, *, caller: Caller) -> TagSetRow:
    """Return a tag set. Raises 404 if it does not exist or is hidden from the caller.

    Drafts of other users are hidden, except from reviewers. If several people label the artifact,
    other people's tag sets are hidden from a labeler until the labeler has submitted a tag set with
    the same schema for the artifact.
    """
    return errors.require_found(find(tag_set_id, caller=caller))


def find_latest_prediction(artifact_id: UUID, *, caller: Caller) -> PredictedTags | None:
    """Return an artifact's latest prediction, or None if it is missing or hidden from the caller.

    A prediction is hidden from labelers who label blind until they have submitted a tag set.
    """
    row = ports.predictions.get().find_latest(artifact_id)
    return None if row is None or must_label_blind(artifact_id, caller=caller) else row


def find(tag_set_id: UUID, *, caller: Caller) -> TagSetRow | None:
    """Return a tag set, or None if it does not exist or is hidden from the caller."""
    row = reading.find(tag_set_id)
    return row if row is not None and _can_see(row, caller) else None


def find_visible_ids(tag_set_ids: Sequence[UUID], *, caller: Caller) -> set[UUID]:
    """Return those of `tag_set_ids` that a caller with a role below reviewer may see."""
    return reading.find_visible_ids(tag_set_ids, rules.build_reader(caller))


def _can_see(row: TagSetRow, caller: Caller) -> bool:
    if row.labeler_id == caller.user_id or rules.can_see_all(caller):
        return True
    if row.status == TagSetStatus.DRAFT:
        return False
    # Only labelers have to label blind.
    return not rules.is_labeler(caller) or reading.is_visible(row.id, rules.build_reader(caller))


def list_tag_sets(*, caller: Caller, page: PageRequest, **filters: object) -> Page:
    """Return a page of the tag sets that match `filters` and that the caller may see."""
    return listing.get_page(page, filters=filters, reader=_build_reader(caller))


def find_viewer_ids(tag_set: TagSetRow, user_ids: Sequence[UUID], *, caller: Caller) -> set[UUID]:
    """Return the ids in `user_ids` that belong to members who may see a tag set.

    If the caller labels the artifact blind, other labelers are omitted, because the result would
    reveal whether they have submitted a tag set.
    """
    include_labelers = not must_label_blind(tag_set.artifact_id, caller=caller)
    viewer_ids = reading.find_viewer_ids(tag_set.id, user_ids, include_labelers=include_labelers)
    return viewer_ids | {caller.user_id}.intersection(user_ids)


def list_field_names(schema_version_id: UUID) -> list[str]:
    """Return the field names of a schema version, such as `total`, `lines`, `lines.item`."""
    return rules.get_version_rules(schema_version_id).fields.names


def select_revisions(artifact_id: UUID, *, caller: Caller) -> Select[Any]:
    """Return a SELECT for the revisions of an artifact's tag sets that the caller may see.

    The columns are those of `queries.revisions.select_revisions`.
    """
    return revisions.select_revisions(artifact_id, _build_reader(caller))


def select_ids(artifact_id: UUID, *, caller: Caller) -> Select[UUID]:
    """Return a SELECT for the ids of an artifact's tag sets that the caller may see."""
    return revisions.select_ids(artifact_id, _build_reader(caller))


def _build_reader(caller: Caller) -> reading.Reader | None:
    return None if rules.can_see_all(caller) else rules.build_reader(caller)


def must_label_blind(artifact_id: UUID, *, caller: Caller) -> bool:
    """Return whether the caller is a labeler who must now label the artifact blind."""
    return rules.is_labeler(caller) and revisions.must_label_blind(artifact_id, caller.user_id)
