"""SQL of the label sets of one document beside each other."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import (
    Integer,
    Row,
    and_,
    func,
    insert,
    literal,
    literal_column,
    or_,
    select,
    update,
)
from sqlalchemy.orm import aliased

from app.identity.users.models import User
from app.kit import db
from app.schemas.artifact_schemas.models import SchemaVersion
from app.workflow.tag_sets.models import LABELS_WANTED, TagSet, TagSetRevision
from app.workflow.tag_sets.queries.reading import person

_DIRECT = {"synchronize_session": False}
_labeler = aliased(User)
_DISAGREE = "disagreement"


def of_document(artifact_id: UUID) -> list[Row[Any]]:
    """The label sets of a document but drafts, the oldest first."""
    statement = (
        select(
            TagSet.id,
            TagSet.schema_id,
            TagSet.schema_version_id,
            literal_column(LABELS_WANTED.format(of="tag_sets."), Integer).label("labels_wanted"),
            person(_labeler, "labeler"),
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
        .where(TagSet.artifact_id == artifact_id, TagSet.status != "draft")
        .order_by(TagSet.id)
    )
    return list(db.session().execute(statement))


def documents_of(tag_set_ids: Iterable[UUID]) -> dict[UUID, UUID]:
    """{label set: its document} of those there are."""
    statement = select(TagSet.id, TagSet.artifact_id).where(TagSet.id.in_(list(tag_set_ids)))
    return {row.id: row.artifact_id for row in db.session().execute(statement)}


def latest_prediction(artifact_id: UUID) -> Row[Any] | None:
    """id, revision and tags of what a model said last of a document."""
    statement = (
        select(TagSet.id, TagSet.revision, TagSet.tags)
        .where(TagSet.artifact_id == artifact_id, TagSet.source == "model")
        .order_by(TagSet.created_at.desc(), TagSet.id.desc())
        .limit(1)
    )
    return db.session().execute(statement).one_or_none()


def merges(artifact_id: UUID, states: tuple[str, ...]) -> list[UUID]:
    """The merges of a document in any of `states`."""
    statement = select(TagSet.id).where(
        TagSet.artifact_id == artifact_id, TagSet.source == "merge", TagSet.status.in_(states)
    )
    return list(db.session().execute(statement.order_by(TagSet.id)).scalars())


def made_of(tag_set_id: UUID, artifact_id: UUID) -> list[UUID]:
    """The merges of a document that were made of one of its label sets, in whatever state."""
    statement = select(TagSet.id).where(
        TagSet.artifact_id == artifact_id, TagSet.merged_from.contains([str(tag_set_id)])
    )
    return list(db.session().execute(statement.order_by(TagSet.id)).scalars())


def provenance(tag_set_id: UUID) -> list[dict[str, Any]]:
    """Where each of a merge's tags came from."""
    statement = select(TagSet.provenance).where(TagSet.id == tag_set_id)
    return list(db.session().execute(statement).scalar_one() or ())


def mark_disagreement(tag_set_ids: Sequence[UUID], *, disagree: bool) -> None:
    """Set or take away the flag; no change of the label sets themselves."""
    without = TagSet.flags.op("-")(_DISAGREE)
    flags = without.op("||")(func.jsonb_build_array(_DISAGREE)) if disagree else without
    db.session().execute(
        update(TagSet)
        .where(TagSet.id.in_(tag_set_ids))
        .values(flags=flags, updated_at=TagSet.updated_at)
        .execution_options(**_DIRECT)
    )


def supersede(
    tag_set_ids: Sequence[UUID],
    by: UUID,
    values: dict[str, Any],
    *,
    author_id: UUID | None,
) -> None:
    """Let a merge stand for those of its sources that still wait, or that one before it stood for;
    a revision notes it."""
    waits = TagSet.status == "submitted"
    stood_for = and_(TagSet.status == "rejected", TagSet.superseded_by.is_not(None))
    statement = (
        update(TagSet)
        .where(TagSet.id.in_(tag_set_ids), or_(waits, stood_for))
        .values(**values, superseded_by=by, revision=TagSet.revision + 1)
        .returning(TagSet.id)
        .execution_options(**_DIRECT)
    )
    changed = list(db.session().execute(statement).scalars())
    held = select(
        TagSet.organization_id,
        TagSet.id,
        TagSet.revision,
        TagSet.tags,
        literal(author_id, TagSetRevision.author_id.type),
        literal("supersede"),
        TagSet.updated_at,
    ).where(TagSet.id.in_(changed))
    names = ("organization_id", "tag_set_id", "number", "tags", "author_id", "kind", "created_at")
    db.session().execute(insert(TagSetRevision).from_select(names, held))
