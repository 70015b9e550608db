"""SQL queries for the tag sets of an artifact or a schema, and for merges."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import aliased

from app.identity.users.models import User, build_person
from app.kit import db
from app.kit.tenancy import build_join
from app.schemas.artifact_schemas.models import SchemaVersion
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.queries.locking import REQUIRED_LABEL_COUNT
from app.workflow.tag_sets.transitions import TagSetStatus

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
            *db.build_columns(
                ComparedTagSet._fields,
                TagSet,
                required_labels=REQUIRED_LABEL_COUNT,
                labeler=build_person(_labeler),
                version=SchemaVersion.number,
            )
        )
        .join(SchemaVersion, build_join(TagSet.schema_version_id, SchemaVersion))
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
    """Return the ids of an artifact's merges, in any status, that have this tag set as a source."""
    statement = select(TagSet.id).where(
        TagSet.artifact_id == artifact_id, TagSet.merged_from.contains([str(tag_set_id)])
    )
    return list(db.session().execute(statement.order_by(TagSet.id)).scalars())


def set_disagreement_flag(tag_set_ids: Sequence[UUID], *, disagree: bool) -> None:
    """Set or remove the flag `disagreement` of tag sets. Their revisions do not change."""
    flags = TagSet.flags.op("-")(_DISAGREEMENT)
    if disagree:
        flags = flags.op("||")(func.jsonb_build_array(_DISAGREEMENT))
    db.execute_bulk(
        update(TagSet)
        .where(TagSet.id.in_(tag_set_ids))
        .values(flags=flags, updated_at=TagSet.updated_at)
    )


MAX_LISTED_TAG_SETS = 100
"""The maximum number of ids of tag sets that an error response lists."""


def list_oldest_ids(artifact_id: UUID, *conditions: ColumnElement[bool]) -> list[UUID]:
    """Return the ids of an artifact's oldest tag sets that meet the conditions.

    At most MAX_LISTED_TAG_SETS ids are returned.
    """
    statement = select(TagSet.id).where(TagSet.artifact_id == artifact_id, *conditions)
    statement = statement.order_by(TagSet.created_at, TagSet.id).limit(MAX_LISTED_TAG_SETS)
    return list(db.session().scalars(statement))


def list_oldest_ids_of_other_schemas(artifact_id: UUID, schema_id: UUID | None) -> list[UUID]:
    """Return the ids of an artifact's oldest tag sets with a schema other than `schema_id`.

    Rejected tag sets are ignored. At most MAX_LISTED_TAG_SETS ids are returned.
    """
    is_of_other_schema = TagSet.schema_id.is_distinct_from(schema_id)
    return list_oldest_ids(artifact_id, TagSet.status != TagSetStatus.REJECTED, is_of_other_schema)


def count_by_schema(schema_id: UUID) -> int:
    """Return the number of tag sets of a schema, in all statuses."""
    statement = select(func.count()).select_from(TagSet).where(TagSet.schema_id == schema_id)
    return db.session().scalars(statement).one()
