"""SQL queries that lock tag sets with their artifacts (FOR NO KEY UPDATE), always in one order.

Artifacts are locked before tag sets, each in the order of their ids, so that two transactions never
wait for each other.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Integer,
    Select,
    SQLColumnExpression,
    Uuid,
    and_,
    case,
    exists,
    func,
    literal_column,
    select,
    text,
)
from sqlalchemy.orm import aliased

from app.documents.artifacts.models.documents import Artifact
from app.kit import db, tenancy
from app.kit.id_conditions import build_id_condition
from app.kit.tenancy import build_join
from app.schemas.artifact_schemas.models import SchemaVersion
from app.workflow.tag_sets.models import CONTRIBUTORS, REQUIRED_LABELS, TagSet
from app.workflow.tag_sets.transitions import TagSetStatus

RowT = TypeVar("RowT")
BATCH_SIZE = 1000
REQUIRED_LABEL_COUNT: ColumnElement[int] = literal_column(
    REQUIRED_LABELS.format(of="tag_sets."), Integer
)
CONTRIBUTOR_IDS: ColumnElement[Any] = literal_column(
    CONTRIBUTORS.format(of="tag_sets."), ARRAY(Uuid)
)
CLAIMED_BY = case((TagSet.claim_expires_at > func.now(), TagSet.claim_user_id))
"""The id of the reviewer with an unexpired claim, or null if there is none."""


def add_row_locks(statement: Select[Any], *conditions: ColumnElement[bool]) -> Select[Any]:
    """Add conditions, an order and row locks to a SELECT of tag sets joined with their artifacts.

    The locks allow new rows that refer to the locked rows. For each tag set, the statement locks
    the artifact first. If there are several artifacts, they must be locked already, because the
    statement does not lock them in the order of their own ids.
    """
    ordered_statement = statement.where(*conditions).order_by(TagSet.id)
    return ordered_statement.with_for_update(of=(Artifact, TagSet), key_share=True)


def _lock(
    statement: Select[Any], condition: ColumnElement[bool], build_row: Callable[[Any], RowT]
) -> list[RowT]:
    """Lock the tag sets that meet a condition, and their artifacts; return rows ordered by id."""
    # A statement that waits for a lock reads other rows, such as the artifact's other tag sets, as
    # they were before the wait. So the first statement waits, and the second one reads.
    artifact_ids = select(TagSet.artifact_id).where(condition)
    artifacts = select(Artifact.id).where(Artifact.id.in_(artifact_ids)).order_by(Artifact.id)
    db.session().execute(artifacts.with_for_update(key_share=True))
    return [build_row(row) for row in db.session().execute(add_row_locks(statement, condition))]


_earlier_tag_set = aliased(TagSet)
_WAS_REJECTED_BEFORE = exists().where(
    _earlier_tag_set.organization_id == TagSet.organization_id,
    _earlier_tag_set.artifact_id == TagSet.artifact_id,
    _earlier_tag_set.schema_id == TagSet.schema_id,
    _earlier_tag_set.labeler_id == TagSet.labeler_id,
    _earlier_tag_set.status == TagSetStatus.REJECTED,
    _earlier_tag_set.id != TagSet.id,
)


class LockedTagSet(NamedTuple):
    """A tag set that is locked with its artifact.

    `contributor_ids` lists the id of the labeler, or the ids of the labelers of a merge's sources.
    `was_rejected_before` is true if another tag set by the same labeler for the same artifact and
    schema was rejected. `version` is the number of the schema version. `claimed_by` is the id of
    the reviewer with an unexpired claim, or None.
    """

    id: UUID
    artifact_id: UUID
    schema_id: UUID
    schema_version_id: UUID
    labeler_id: UUID | None
    contributor_ids: list[UUID]
    required_labels: int
    tags: list[dict[str, Any]]
    status: str
    rejections: int
    earlier_rejections: int
    revision: int
    source: str
    submitted_at: datetime | None
    flags: list[str]
    merged_from: list[str] | None
    reopened: bool
    was_rejected_before: bool
    version: int
    claimed_by: UUID | None
    claim_expires_at: datetime | None
    assignee_id: UUID | None
    assignee_team_id: UUID | None
    escalated: bool
    text_length: int
    page_count: int | None
    artifact_updated_at: datetime
    artifact_schema_id: UUID | None
    prediction_id: UUID | None
    prediction_model_version: str | None


class LockedReview(NamedTuple):
    """A locked tag set without its tags, but with the review policy of its schema version."""

    id: UUID
    artifact_id: UUID
    schema_id: UUID
    schema_version_id: UUID
    labeler_id: UUID | None
    contributor_ids: list[UUID]
    required_labels: int
    status: str
    source: str
    rejections: int
    earlier_rejections: int
    revision: int
    claimed_by: UUID | None
    claim_expires_at: datetime | None
    assignee_id: UUID | None
    assignee_team_id: UUID | None
    review_policy: dict[str, Any]


def _select(names: Sequence[str], **expressions: SQLColumnExpression[Any]) -> Select[Any]:
    """Build a SELECT of the columns `names` of tag sets, their artifacts and schema versions."""
    columns = db.build_columns(
        names,
        TagSet,
        contributor_ids=CONTRIBUTOR_IDS,
        required_labels=REQUIRED_LABEL_COUNT,
        claimed_by=CLAIMED_BY,
        **expressions,
    )
    return (
        select(*columns)
        .join(Artifact, build_join(TagSet.artifact_id, Artifact))
        .join(SchemaVersion, build_join(TagSet.schema_version_id, SchemaVersion))
    )


_SELECT_TAG_SETS = _select(
    LockedTagSet._fields,
    was_rejected_before=_WAS_REJECTED_BEFORE,
    version=SchemaVersion.number,
    text_length=Artifact.text_length,
    page_count=Artifact.page_count,
    artifact_updated_at=Artifact.updated_at,
    artifact_schema_id=Artifact.schema_id,
)
_SELECT_REVIEWS = _select(LockedReview._fields, review_policy=SchemaVersion.review_policy)
_LIST_IDS_WITH_SOURCES = text(
    """
    SELECT tag_sets.id FROM tag_sets WHERE tag_sets.organization_id = :org AND tag_sets.id = :id
    UNION ALL
    SELECT CAST(source_id AS uuid) FROM tag_sets, jsonb_array_elements_text(merged_from) source_id
    WHERE tag_sets.organization_id = :org AND tag_sets.id = :id AND merged_from IS NOT NULL
    """
)


def lock(tag_set_ids: Iterable[UUID]) -> list[LockedTagSet]:
    """Lock tag sets and their artifacts, and return the tag sets that exist, ordered by id."""
    condition = build_id_condition(TagSet.id, tag_set_ids)
    return _lock(_SELECT_TAG_SETS, condition, LockedTagSet._make)


def lock_with_sources(tag_set_id: UUID) -> list[LockedTagSet]:
    """Lock a tag set and, if it is a merge, its sources, and return them ordered by id."""
    values = {"org": tenancy.current_organization_id(), "id": tag_set_id}
    return lock(db.session().execute(_LIST_IDS_WITH_SOURCES, values).scalars())


def lock_by_artifact(artifact_id: UUID) -> list[LockedTagSet]:
    """Lock an artifact's tag sets except drafts, with the artifact; return them ordered by id."""
    condition = and_(TagSet.artifact_id == artifact_id, TagSet.status != TagSetStatus.DRAFT)
    return _lock(_SELECT_TAG_SETS, condition, LockedTagSet._make)


def lock_reviews(tag_set_ids: Iterable[UUID]) -> list[LockedReview]:
    """Lock tag sets and their artifacts, and return the reviews that exist, ordered by id.

    The tags are not read.
    """
    condition = build_id_condition(TagSet.id, tag_set_ids)
    return _lock(_SELECT_REVIEWS, condition, LockedReview._make)


# The inner query reads in index order. The outer query locks in the order of ids, as all code does.
_LOCK_LABELED = text(
    """
    SELECT created_at, id FROM artifacts
    WHERE organization_id = :organization_id AND id IN (
        SELECT id FROM artifacts
        WHERE organization_id = :organization_id AND schema_id = :schema_id
          AND status IN ('in_progress', 'in_review')
          AND (created_at, id) > (:since, CAST(:after AS uuid))
        ORDER BY created_at, id LIMIT :batch
    )
    ORDER BY id FOR NO KEY UPDATE
    """
)


class LabeledArtifact(NamedTuple):
    """A locked artifact that is in progress or in review."""

    created_at: datetime
    id: UUID


def lock_labeled_artifacts(schema_id: UUID, after: LabeledArtifact | None) -> list[LabeledArtifact]:
    """Lock the next BATCH_SIZE artifacts of a schema that are in progress or in review.

    Batches are in order of creation; `after` is the newest artifact in the previous batch, or None
    for the first batch. The returned artifacts are ordered by id.
    """
    after_time, after_id = after or (datetime(1970, 1, 1, tzinfo=UTC), UUID(int=0))
    values = {
        "organization_id": tenancy.current_organization_id(),
        "schema_id": schema_id,
        "since": after_time,
        "after": after_id,
        "batch": BATCH_SIZE,
    }
    return [LabeledArtifact._make(row) for row in db.session().execute(_LOCK_LABELED, values)]
