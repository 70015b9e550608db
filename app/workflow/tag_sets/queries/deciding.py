"""SQL queries for status changes of a tag set: create, submit, accept, reject, delete."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Integer,
    Label,
    Uuid,
    and_,
    case,
    delete,
    exists,
    func,
    insert,
    literal_column,
    null,
    select,
    text,
    update,
)
from sqlalchemy.orm import aliased

from app.documents.artifacts.models import Artifact
from app.identity.teams.models import TeamMember
from app.kit import db, tenancy
from app.schemas.artifact_schemas.models import SchemaVersion
from app.workflow.tag_sets.models import CONTRIBUTORS, REQUIRED_LABELS, TagSet
from app.workflow.tag_sets.queries import recording
from app.workflow.tag_sets.transitions import TagSetStatus

_EXECUTION_OPTIONS = {"synchronize_session": False}


def _build_contributors_column() -> Label[Any]:
    """Build a column with the ids that the SQL expression `CONTRIBUTORS` returns."""
    sql = CONTRIBUTORS.format(of="tag_sets.")
    return literal_column(sql, ARRAY(Uuid)).label("contributor_ids")


_earlier_tag_set = aliased(TagSet)
# The artifact is locked, so this condition finds only rejections by earlier transactions.
_RETRIED = exists().where(
    _earlier_tag_set.organization_id == TagSet.organization_id,
    _earlier_tag_set.artifact_id == TagSet.artifact_id,
    _earlier_tag_set.schema_id == TagSet.schema_id,
    _earlier_tag_set.labeler_id == TagSet.labeler_id,
    _earlier_tag_set.status == TagSetStatus.REJECTED,
    _earlier_tag_set.id != TagSet.id,
)

_LOCKED = (
    select(
        TagSet.id,
        TagSet.artifact_id,
        TagSet.schema_id,
        TagSet.schema_version_id,
        TagSet.labeler_id,
        _build_contributors_column(),
        literal_column(REQUIRED_LABELS.format(of="tag_sets."), Integer).label("required_labels"),
        TagSet.tags,
        TagSet.status,
        TagSet.rejections,
        TagSet.earlier_rejections,
        TagSet.revision,
        TagSet.source,
        TagSet.submitted_at,
        TagSet.flags,
        TagSet.merged_from,
        TagSet.reopened,
        _RETRIED.label("retried"),
        SchemaVersion.number.label("version"),
        case((TagSet.claim_expires_at > func.now(), TagSet.claim_user_id)).label("claimed_by"),
        TagSet.claim_expires_at,
        TagSet.assignee_id,
        TagSet.assignee_team_id,
        TagSet.escalated,
        Artifact.text_length,
        Artifact.page_count,
        Artifact.updated_at.label("artifact_updated_at"),
        Artifact.schema_id.label("artifact_schema_id"),
        TagSet.prediction_id,
        TagSet.prediction_model_version,
    )
    .join(
        Artifact,
        and_(Artifact.organization_id == TagSet.organization_id, Artifact.id == TagSet.artifact_id),
    )
    .join(
        SchemaVersion,
        and_(
            SchemaVersion.organization_id == TagSet.organization_id,
            SchemaVersion.id == TagSet.schema_version_id,
        ),
    )
    # The artifact is locked first, as in every change of an artifact and its tag sets.
    .with_for_update(of=(Artifact, TagSet), key_share=True)
)


class LockedTagSet(NamedTuple):
    """A tag set that is locked with its artifact; the columns of `_LOCKED`.

    `contributor_ids` lists the id of the labeler, or the ids of the labelers of a merge's sources.
    `retried` is true if an earlier tag set by the same labeler was rejected. `claimed_by` is the id
    of the reviewer with an unexpired claim.
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
    retried: bool
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


def lock(tag_set_id: UUID) -> LockedTagSet | None:
    """Lock a tag set and its artifact, and return the tag set, or None if it does not exist."""
    row = db.session().execute(_LOCKED.where(TagSet.id == tag_set_id)).one_or_none()
    return None if row is None else LockedTagSet._make(row)


def _lock_many(condition: ColumnElement[bool]) -> list[LockedTagSet]:
    rows = db.session().execute(_LOCKED.where(condition).order_by(TagSet.id))
    return [LockedTagSet._make(row) for row in rows]


_WITH_SOURCES = text(
    """
    SELECT tag_sets.id FROM tag_sets WHERE tag_sets.organization_id = :org AND tag_sets.id = :id
    UNION ALL
    SELECT CAST(source_id AS uuid) FROM tag_sets, jsonb_array_elements_text(merged_from) source_id
    WHERE tag_sets.organization_id = :org AND tag_sets.id = :id AND merged_from IS NOT NULL
    """
)


def lock_with_sources(tag_set_id: UUID) -> list[LockedTagSet]:
    """Lock a tag set and, if it is a merge, its sources, and return them ordered by id."""
    values = {"org": tenancy.current_organization_id(), "id": tag_set_id}
    tag_set_ids = list(db.session().execute(_WITH_SOURCES, values).scalars())
    return _lock_many(TagSet.id.in_(tag_set_ids))


def lock_by_artifact(artifact_id: UUID) -> list[LockedTagSet]:
    """Lock all tag sets of an artifact except drafts, and return them ordered by id."""
    return _lock_many(and_(TagSet.artifact_id == artifact_id, TagSet.status != TagSetStatus.DRAFT))


def insert_tag_set(
    values: dict[str, Any], *, author_id: UUID, kind: str = "create", note: str | None = None
) -> TagSet:
    """Insert a tag set and its first revision, and return the tag set."""
    tag_set = TagSet(**values)
    db.session().add(tag_set)
    db.session().flush()
    recording.insert_revisions([tag_set.id], kind=kind, author_id=author_id, note=note)
    return tag_set


def insert_tag_sets(rows: Sequence[dict[str, Any]], *, author_id: UUID | None, kind: str) -> None:
    """Insert tag sets and their first revisions. Each row must include the tag set's id."""
    organization_id = tenancy.current_organization_id()
    values = [{**row, "organization_id": organization_id} for row in rows]
    db.session().execute(insert(TagSet), values)
    recording.insert_revisions([row["id"] for row in rows], kind=kind, author_id=author_id)


def delete_tag_set(tag_set_id: UUID) -> None:
    """Delete a tag set. Its revisions are deleted with it (ON DELETE CASCADE)."""
    db.session().execute(
        delete(TagSet).where(TagSet.id == tag_set_id).execution_options(**_EXECUTION_OPTIONS)
    )


def find_id_by_labeler(
    artifact_id: UUID, user_id: UUID, statuses: tuple[str, ...], *, excluded_id: UUID | None = None
) -> UUID | None:
    """Return the id of a user's tag set for an artifact in one of the statuses, or None.

    The tag set `excluded_id` is ignored.
    """
    statement = select(TagSet.id).where(
        TagSet.artifact_id == artifact_id,
        TagSet.labeler_id == user_id,
        TagSet.status.in_(statuses),
    )
    if excluded_id is not None:
        statement = statement.where(TagSet.id != excluded_id)
    return db.session().execute(statement.limit(1)).scalar_one_or_none()


def list_ids_by_status(artifact_id: UUID, statuses: tuple[str, ...]) -> list[UUID]:
    """Return the ids of an artifact's tag sets in one of the statuses, oldest first."""
    statement = select(TagSet.id).where(
        TagSet.artifact_id == artifact_id, TagSet.status.in_(statuses)
    )
    return list(db.session().execute(statement.order_by(TagSet.id)).scalars())


def list_merge_ids(artifact_id: UUID, statuses: tuple[str, ...]) -> list[UUID]:
    """Return the ids of an artifact's merges in one of the statuses, oldest first."""
    statement = select(TagSet.id).where(
        TagSet.artifact_id == artifact_id, TagSet.source == "merge", TagSet.status.in_(statuses)
    )
    return list(db.session().execute(statement.order_by(TagSet.id)).scalars())


def count_rejections(artifact_id: UUID, schema_id: UUID, *, labeler_id: UUID | None) -> int:
    """Return the number of rejections so far for an artifact and schema.

    `labeler_id` restricts the count to the tag sets of one labeler. Each tag set also stores the
    number of rejections of earlier tag sets, so the result is the maximum over all tag sets.
    """
    rejections = TagSet.rejections + TagSet.earlier_rejections
    statement = select(func.coalesce(func.max(rejections), 0)).where(
        TagSet.artifact_id == artifact_id, TagSet.schema_id == schema_id
    )
    if labeler_id is not None:
        statement = statement.where(TagSet.labeler_id == labeler_id)
    return int(db.session().execute(statement).scalar_one())


def list_team_ids(user_id: UUID) -> set[UUID]:
    """Return the ids of a user's teams."""
    statement = select(TeamMember.team_id).where(TeamMember.user_id == user_id)
    return set(db.session().execute(statement).scalars())


_CLAIM_ARTIFACTS = text(
    """
    UPDATE artifacts
    SET claim_user_id = assignee.user_id, claim_expires_at = now() + make_interval(mins => :minutes)
    FROM unnest(CAST(:artifact_ids AS uuid[]), CAST(:user_ids AS uuid[])) AS assignee (id, user_id)
    WHERE organization_id = :org AND artifacts.id = assignee.id AND NOT archived
      AND (claim_user_id IS NULL OR claim_user_id = assignee.user_id OR claim_expires_at <= now())
    """
)


def claim_artifacts(labelers: Mapping[UUID, UUID], *, minutes: int) -> None:
    """Claim artifacts for labelers, except artifacts that are archived or claimed by another user.

    `labelers` maps artifact ids to user ids.
    """
    values = {
        "org": tenancy.current_organization_id(),
        "artifact_ids": list(map(str, labelers)),
        "user_ids": list(map(str, labelers.values())),
        "minutes": minutes,
    }
    db.session().execute(_CLAIM_ARTIFACTS, values)


def release_claim(artifact_id: UUID, user_id: UUID | None) -> None:
    """Release a user's claim on an artifact, if there is one."""
    db.session().execute(
        update(Artifact)
        .where(Artifact.id == artifact_id, Artifact.claim_user_id == user_id)
        .values(claim_user_id=null(), claim_expires_at=null(), updated_at=Artifact.updated_at)
        .execution_options(**_EXECUTION_OPTIONS)
    )
