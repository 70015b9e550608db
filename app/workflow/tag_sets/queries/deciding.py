"""SQL queries that lock tag sets, and that record status changes: submit, accept, reject, reopen.

Every change of a tag set is recorded as a revision.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    FromClause,
    Integer,
    Select,
    Uuid,
    and_,
    case,
    cast,
    exists,
    extract,
    func,
    insert,
    literal,
    literal_column,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.orm import aliased

from app.documents.artifacts.models.documents import Artifact
from app.identity.teams.models import TeamMember
from app.kit import db, tenancy
from app.kit.id_conditions import build_id_condition
from app.kit.tenancy import build_join
from app.schemas.artifact_schemas.models import SchemaVersion
from app.workflow.tag_sets.models import CONTRIBUTORS, REQUIRED_LABELS, TagSet, TagSetRevision
from app.workflow.tag_sets.transitions import TagSetStatus

CONTRIBUTOR_IDS: ColumnElement[Any] = literal_column(
    CONTRIBUTORS.format(of="tag_sets."), ARRAY(Uuid)
)
REQUIRED_LABEL_COUNT: ColumnElement[int] = literal_column(
    REQUIRED_LABELS.format(of="tag_sets."), Integer
)
CLAIMED_BY = case((TagSet.claim_expires_at > func.now(), TagSet.claim_user_id))
"""The id of the reviewer with an unexpired claim, or null if there is none."""

_earlier_tag_set = aliased(TagSet)
# The artifact is locked, so this condition finds only rejections by earlier transactions.
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


_SELECT_LOCKED = (
    select(
        *db.build_columns(
            LockedTagSet._fields,
            TagSet,
            contributor_ids=CONTRIBUTOR_IDS,
            required_labels=REQUIRED_LABEL_COUNT,
            was_rejected_before=_WAS_REJECTED_BEFORE,
            version=SchemaVersion.number,
            claimed_by=CLAIMED_BY,
            text_length=Artifact.text_length,
            page_count=Artifact.page_count,
            artifact_updated_at=Artifact.updated_at,
            artifact_schema_id=Artifact.schema_id,
        )
    )
    .join(Artifact, build_join(TagSet.artifact_id, Artifact))
    .join(SchemaVersion, build_join(TagSet.schema_version_id, SchemaVersion))
    # The artifact is locked first, as in every change of an artifact and its tag sets.
    .with_for_update(of=(Artifact, TagSet), key_share=True)
)


def lock(tag_set_id: UUID) -> LockedTagSet | None:
    """Lock a tag set and its artifact, and return the tag set, or None if it does not exist."""
    return next(iter(_lock_many(TagSet.id == tag_set_id)), None)


def _lock_many(condition: ColumnElement[bool]) -> list[LockedTagSet]:
    rows = db.session().execute(_SELECT_LOCKED.where(condition).order_by(TagSet.id))
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


def find_id_by_labeler(
    artifact_id: UUID, user_id: UUID, statuses: tuple[str, ...], *, excluded_id: UUID | None = None
) -> UUID | None:
    """Return the id of a user's tag set for an artifact, or None if there is none.

    Only tag sets in one of `statuses` are considered. The tag set `excluded_id` is ignored.
    """
    statement = select(TagSet.id).where(
        TagSet.artifact_id == artifact_id, TagSet.labeler_id == user_id, TagSet.status.in_(statuses)
    )
    if excluded_id is not None:
        statement = statement.where(TagSet.id != excluded_id)
    return db.session().execute(statement.limit(1)).scalar_one_or_none()


def list_ids(
    artifact_id: UUID, statuses: tuple[str, ...], *, source: str | None = None
) -> list[UUID]:
    """Return the ids of an artifact's tag sets in one of the statuses, oldest first.

    `source` restricts the tag sets to one source, such as `merge`.
    """
    statement = select(TagSet.id).where(
        TagSet.artifact_id == artifact_id, TagSet.status.in_(statuses)
    )
    if source is not None:
        statement = statement.where(TagSet.source == source)
    return list(db.session().execute(statement.order_by(TagSet.id)).scalars())


def get_provenance(tag_set_id: UUID) -> list[dict[str, Any]]:
    """Return the provenance entries of a merge, or an empty list for any other tag set."""
    statement = select(TagSet.provenance).where(TagSet.id == tag_set_id)
    return list(db.session().execute(statement).scalar_one() or ())


def list_team_ids(user_id: UUID) -> list[UUID]:
    """Return the ids of a user's teams."""
    statement = select(TeamMember.team_id).where(TeamMember.user_id == user_id)
    return list(db.session().scalars(statement))


_DECISIONS = ("accept", "correction", "reject")
_RECORDED_COLUMNS = (
    TagSet.organization_id,
    TagSet.id,
    TagSet.revision,
    TagSet.tags,
    TagSet.updated_at,
    TagSet.schema_id,
)
"""The columns of a tag set that are stored in its revisions."""
_previous_revision = aliased(TagSetRevision)
"""The revision before the revision that is being recorded."""


def insert_revisions(
    tag_set_ids: Sequence[UUID], *, kind: str, author_id: UUID | None, note: str | None = None
) -> None:
    """Insert a revision for each tag set, with its current state."""
    current = select(*_RECORDED_COLUMNS).where(*_build_conditions(tag_set_ids)).subquery()
    _insert_revisions(current, kind=kind, author_id=author_id, note=note)


def update_tag_sets(
    tag_set_ids: Sequence[UUID],
    values: Mapping[str, Any],
    *conditions: ColumnElement[bool],
    kind: str,
    author_id: UUID | None,
    note: str | None = None,
) -> None:
    """Update locked tag sets that meet `conditions`, and record a revision of each of them."""
    changed_tag_sets = (
        update(TagSet)
        .where(*_build_conditions(tag_set_ids), *conditions)
        .values(**values, revision=TagSet.revision + 1)
        .returning(*_RECORDED_COLUMNS)
        .cte("changed")
    )
    _insert_revisions(changed_tag_sets, kind=kind, author_id=author_id, note=note)


def supersede(
    tag_set_ids: Sequence[UUID], merge_id: UUID, values: Mapping[str, Any], author_id: UUID | None
) -> None:
    """Update the sources of a merge with `values`, and mark them as superseded by the merge.

    Only sources that are submitted, or that another merge has superseded, are changed.
    """
    is_submitted = TagSet.status == TagSetStatus.SUBMITTED
    is_superseded = and_(TagSet.status == TagSetStatus.REJECTED, TagSet.superseded_by.is_not(None))
    update_tag_sets(
        tag_set_ids,
        {**values, "superseded_by": merge_id},
        or_(is_submitted, is_superseded),
        kind="supersede",
        author_id=author_id,
    )


def _build_conditions(tag_set_ids: Sequence[UUID]) -> list[ColumnElement[bool]]:
    # The ORM does not add the condition on the organization inside an INSERT.
    in_organization = TagSet.organization_id == tenancy.current_organization_id()
    return [in_organization, build_id_condition(TagSet.id, tag_set_ids)]


def _insert_revisions(
    tag_sets: FromClause, *, kind: str, author_id: UUID | None, note: str | None
) -> None:
    """Insert a revision for each row of `tag_sets`, which has the `_RECORDED_COLUMNS`.

    A decision also stores the schema, and the time since the previous revision.
    """
    columns = ["organization_id", "tag_set_id", "number", "tags", "created_at"]
    columns += ["author_id", "kind", "note"]
    revision_rows: Select[Any] = select(
        *(tag_sets.c[name] for name in ("organization_id", "id", "revision", "tags", "updated_at")),
        literal(author_id, TagSetRevision.author_id.type),
        literal(kind),
        literal(note, TagSetRevision.note.type),
    )
    if kind in _DECISIONS:
        columns += ["schema_id", "waited_microseconds"]
        waited_seconds = extract("epoch", tag_sets.c.updated_at - _previous_revision.created_at)
        revision_rows = revision_rows.add_columns(
            tag_sets.c.schema_id, cast(waited_seconds * 1_000_000, BigInteger)
        ).outerjoin_from(
            tag_sets,
            _previous_revision,
            and_(
                _previous_revision.organization_id == tag_sets.c.organization_id,
                _previous_revision.tag_set_id == tag_sets.c.id,
                _previous_revision.number == tag_sets.c.revision - 1,
            ),
        )
    db.session().execute(insert(TagSetRevision).from_select(columns, revision_rows))
