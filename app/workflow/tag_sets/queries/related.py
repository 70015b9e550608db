"""SQL queries for the related tag sets of an artifact: siblings and merges."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    Integer,
    and_,
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

from app.identity.users.models import User
from app.kit import db, tenancy
from app.schemas.artifact_schemas.models import SchemaVersion
from app.workflow.tag_sets.models import REQUIRED_LABELS, TagSet, TagSetRevision
from app.workflow.tag_sets.queries.reading import build_person_column
from app.workflow.tag_sets.transitions import TagSetStatus

_EXECUTION_OPTIONS = {"synchronize_session": False}
_labeler = aliased(User)
_DISAGREEMENT = "disagreement"


class ComparedTagSet(NamedTuple):
    """The columns of a tag set that are needed for the consensus of its artifact."""

    id: UUID
    schema_id: UUID
    schema_version_id: UUID
    required_labels: int
    labeler: dict[str, Any] | None
    status: str
    source: str
    tags: list[dict[str, Any]]
    superseded_by: UUID | None
    version: int


def list_by_artifact(artifact_id: UUID) -> list[ComparedTagSet]:
    """Return the tag sets of an artifact except drafts, oldest first."""
    statement = (
        select(
            TagSet.id,
            TagSet.schema_id,
            TagSet.schema_version_id,
            literal_column(REQUIRED_LABELS.format(of="tag_sets."), Integer).label(
                "required_labels"
            ),
            build_person_column(_labeler, "labeler"),
            TagSet.status,
            TagSet.source,
            TagSet.tags,
            TagSet.superseded_by,
            SchemaVersion.number.label("version"),
        )
        .join(
            SchemaVersion,
            (SchemaVersion.organization_id == TagSet.organization_id)
            & (SchemaVersion.id == TagSet.schema_version_id),
        )
        .outerjoin(_labeler, _labeler.id == TagSet.labeler_id)
        .where(TagSet.artifact_id == artifact_id, TagSet.status != TagSetStatus.DRAFT)
        .order_by(TagSet.id)
    )
    return [ComparedTagSet._make(row) for row in db.session().execute(statement)]


def get_artifact_ids(tag_set_ids: Iterable[UUID]) -> dict[UUID, UUID]:
    """Return {tag_set_id: artifact_id} for the tag sets that exist."""
    statement = select(TagSet.id, TagSet.artifact_id).where(TagSet.id.in_(list(tag_set_ids)))
    return {row.id: row.artifact_id for row in db.session().execute(statement)}


def list_merge_ids_by_source(tag_set_id: UUID, artifact_id: UUID) -> list[UUID]:
    """Return the ids of the artifact's merges, of any status, with this tag set as a source."""
    statement = select(TagSet.id).where(
        TagSet.artifact_id == artifact_id, TagSet.merged_from.contains([str(tag_set_id)])
    )
    return list(db.session().execute(statement.order_by(TagSet.id)).scalars())


def get_provenance(tag_set_id: UUID) -> list[dict[str, Any]]:
    """Return the provenance entries of a merge."""
    statement = select(TagSet.provenance).where(TagSet.id == tag_set_id)
    return list(db.session().execute(statement).scalar_one() or ())


def set_disagreement_flag(tag_set_ids: Sequence[UUID], *, disagree: bool) -> None:
    """Set or remove the flag `disagreement`. The tag sets' revisions do not change."""
    flags = TagSet.flags.op("-")(_DISAGREEMENT)
    if disagree:
        flags = flags.op("||")(func.jsonb_build_array(_DISAGREEMENT))
    db.session().execute(
        update(TagSet)
        .where(TagSet.id.in_(tag_set_ids))
        .values(flags=flags, updated_at=TagSet.updated_at)
        .execution_options(**_EXECUTION_OPTIONS)
    )


def supersede(
    tag_set_ids: Sequence[UUID],
    merge_id: UUID,
    values: dict[str, Any],
    *,
    author_id: UUID | None,
) -> None:
    """Mark the sources of a merge as superseded by the merge, and record a revision of each source.

    `values` contains additional columns to set. Only sources that are submitted, or that another
    merge has superseded, are changed.
    """
    submitted = TagSet.status == TagSetStatus.SUBMITTED
    superseded = and_(TagSet.status == TagSetStatus.REJECTED, TagSet.superseded_by.is_not(None))
    statement = (
        update(TagSet)
        .where(TagSet.id.in_(tag_set_ids), or_(submitted, superseded))
        .values(**values, superseded_by=merge_id, revision=TagSet.revision + 1)
        .returning(TagSet.id)
        .execution_options(**_EXECUTION_OPTIONS)
    )
    superseded_ids = list(db.session().execute(statement).scalars())
    recorded = select(
        TagSet.organization_id,
        TagSet.id,
        TagSet.revision,
        TagSet.tags,
        literal(author_id, TagSetRevision.author_id.type),
        literal("supersede"),
        TagSet.updated_at,
    ).where(TagSet.id.in_(superseded_ids))
    columns = ("organization_id", "tag_set_id", "number", "tags", "author_id", "kind", "created_at")
    db.session().execute(insert(TagSetRevision).from_select(columns, recorded))


MAX_LISTED_TAG_SETS = 100
"""The maximum number of blocking tag sets that an error lists."""

_BLOCKING = text(
    """
    SELECT id FROM tag_sets
    WHERE organization_id = :org AND artifact_id = :artifact_id
      AND (:all_statuses OR status <> 'rejected' AND schema_id IS DISTINCT FROM :schema_id)
    ORDER BY created_at, id LIMIT :max_count
    """
)


def list_blocking_ids(
    artifact_id: UUID, *, allowed_schema_id: UUID | None = None, all_statuses: bool
) -> list[UUID]:
    """Return the ids of the tag sets that block a change to an artifact.

    At most MAX_LISTED_TAG_SETS ids are returned, oldest first.

    If `all_statuses` is set, every tag set of the artifact blocks the change. Otherwise, a tag set
    blocks it if the tag set is not rejected and has a schema other than `allowed_schema_id`.
    """
    values = {
        "org": tenancy.current_organization_id(),
        "artifact_id": artifact_id,
        "all_statuses": all_statuses,
        "schema_id": allowed_schema_id,
        "max_count": MAX_LISTED_TAG_SETS,
    }
    return list(db.session().scalars(_BLOCKING, values))


def count_by_schema(schema_id: UUID) -> int:
    """Return the number of tag sets of a schema, in all statuses."""
    statement = select(func.count()).select_from(TagSet).where(TagSet.schema_id == schema_id)
    return db.session().scalars(statement).one()
