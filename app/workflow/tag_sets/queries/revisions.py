"""SQL queries for the history of an artifact's tag sets."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    SQLColumnExpression,
    String,
    Text,
    Uuid,
    and_,
    case,
    cast,
    func,
    literal_column,
    null,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import JSONB

from app.documents.artifacts.models.documents import Artifact
from app.identity.users.models import User, build_person
from app.kit import db
from app.kit.pagination import Page, PageRequest, build_period_conditions, paginate
from app.kit.tenancy import build_join
from app.schemas.artifact_schemas.models import ArtifactSchema, SchemaVersion
from app.workflow.tag_sets.models import TagSet, TagSetRevision
from app.workflow.tag_sets.queries.reading import IS_OVERLAPPING, Reader, build_visibility_condition


def select_revisions(artifact_id: UUID, reader: Reader | None) -> Select[Any]:
    """Return a SELECT for all revisions of an artifact's tag sets except saves.

    If `reader` is not None, only tag sets that the reader may see are included. The columns are id
    (a hash of the tag set id and the revision number), at, tag_set_id, kind, author_id, author (an
    email address), note, and changes (the labeler of a new tag set, or the sources of a merge).
    """
    key = cast(TagSetRevision.tag_set_id, String) + "/" + cast(TagSetRevision.number, String)
    statement = (
        select(
            cast(func.md5(key), Uuid()).label("id"),
            TagSetRevision.created_at.label("at"),
            TagSetRevision.tag_set_id,
            TagSetRevision.kind,
            TagSetRevision.author_id,
            User.email.label("author"),
            TagSetRevision.note,
            case(
                (
                    TagSetRevision.kind == "create",
                    _build_initial_change("labeler_id", TagSet.labeler_id),
                ),
                (
                    TagSetRevision.kind == "merge",
                    _build_initial_change("merged_from", TagSet.merged_from),
                ),
                else_=literal_column("CAST('{}' AS jsonb)", JSONB()),
            ).label("changes"),
        )
        .join(TagSet, build_join(TagSetRevision.tag_set_id, TagSet))
        .outerjoin(User, User.id == TagSetRevision.author_id)
        .where(TagSet.artifact_id == artifact_id, TagSetRevision.kind != "save")
    )
    return statement if reader is None else statement.where(build_visibility_condition(reader))


def _build_initial_change(name: str, value: SQLColumnExpression[Any]) -> ColumnElement[Any]:
    return func.jsonb_build_object(name, func.jsonb_build_array(null(), value), type_=JSONB())


def select_ids(artifact_id: UUID, reader: Reader | None) -> Select[UUID]:
    """Return a SELECT for the ids of an artifact's tag sets.

    If `reader` is not None, only tag sets that the reader may see are included.
    """
    statement = select(TagSet.id).where(TagSet.artifact_id == artifact_id)
    return statement if reader is None else statement.where(build_visibility_condition(reader))


def must_label_blind(artifact_id: UUID, user_id: UUID) -> bool:
    """Return whether a user must label an artifact blind.

    This is true if the current version of the artifact's schema, or the version of one of its tag
    sets, requires several tag sets, and the user has submitted no tag set with this schema.
    """
    current_version = (
        select(ArtifactSchema.current_version_id)
        .join(Artifact, Artifact.schema_id == ArtifactSchema.id)
        .where(Artifact.id == artifact_id)
    )
    used_versions = select(TagSet.schema_version_id).where(TagSet.artifact_id == artifact_id)
    versions = select(SchemaVersion.id).where(
        IS_OVERLAPPING,
        or_(SchemaVersion.id.in_(current_version), SchemaVersion.id.in_(used_versions)),
    )
    submitted_tag_set = select(TagSet.id).where(
        TagSet.artifact_id == artifact_id,
        TagSet.schema_id.in_(select(Artifact.schema_id).where(Artifact.id == artifact_id)),
        TagSet.labeler_id == user_id,
        TagSet.submitted_at.is_not(None),
    )
    return bool(db.session().scalar(select(and_(versions.exists(), ~submitted_tag_set.exists()))))


# Only saves store the size of their tags.
_TAGS_BYTES = func.coalesce(
    TagSetRevision.tags_bytes, func.octet_length(cast(TagSetRevision.tags, Text))
)
_TAG_COUNT = func.coalesce(TagSetRevision.tag_count, func.jsonb_array_length(TagSetRevision.tags))


def get_page(
    request: PageRequest,
    tag_set_id: UUID,
    *,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Page:
    """Return a page of a tag set's revisions, without their tags."""
    conditions = [TagSetRevision.tag_set_id == tag_set_id]
    conditions += build_period_conditions(TagSetRevision.created_at, created_after, created_before)
    statement = (
        select(
            TagSetRevision.number,
            TagSetRevision.kind,
            build_person(User).label("author"),
            TagSetRevision.note,
            TagSetRevision.created_at,
            _TAG_COUNT.label("tag_count"),
        )
        .outerjoin(User, User.id == TagSetRevision.author_id)
        .where(*conditions)
    )
    return paginate(
        statement,
        request,
        sort_columns={"number": TagSetRevision.number},
        unique=TagSetRevision.number,
        counted_rows=select(TagSetRevision.number).where(*conditions),
    )


def get_tags(
    tag_set_id: UUID, numbers: Sequence[int], *, max_bytes: int | None = None
) -> dict[int, list[Any]]:
    """Return {number: tags} for the existing revisions with tags of at most `max_bytes`, if set."""
    statement = select(TagSetRevision.number, TagSetRevision.tags).where(
        TagSetRevision.tag_set_id == tag_set_id, TagSetRevision.number.in_(numbers)
    )
    if max_bytes is not None:
        statement = statement.where(max_bytes >= _TAGS_BYTES)
    return {row.number: row.tags for row in db.session().execute(statement)}
