"""SQL of recording changes of tag sets as revisions."""

from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ColumnElement, and_, cast, extract, insert, literal, null, select
from sqlalchemy.orm import aliased

from app.kit import db
from app.workflow.tag_sets.models import TagSet, TagSetRevision

REVISION = (
    TagSetRevision.organization_id,
    TagSetRevision.tag_set_id,
    TagSetRevision.number,
    TagSetRevision.tags,
    TagSetRevision.author_id,
    TagSetRevision.kind,
    TagSetRevision.note,
    TagSetRevision.created_at,
    TagSetRevision.schema_id,
    TagSetRevision.waited_microseconds,
)
"""The columns that an INSERT of a revision writes."""

DECISIONS = ("accept", "correction", "reject")
previous: Any = aliased(TagSetRevision)
"""The revision before the one that is recorded."""


def insert_revision(
    tag_set_id: UUID, *, kind: str, author_id: UUID | None, note: str | None
) -> None:
    """Record the current state of a tag set as its next revision."""
    recorded: Any = select(
        TagSet.organization_id,
        TagSet.id,
        TagSet.revision,
        TagSet.tags,
        literal(author_id, TagSetRevision.author_id.type),
        literal(kind),
        literal(note, TagSetRevision.note.type),
        TagSet.updated_at,
        *describe_decision(kind, TagSet.schema_id, TagSet.updated_at),
    ).where(TagSet.id == tag_set_id)
    if kind in DECISIONS:
        condition = is_previous(TagSet.organization_id, TagSet.id, TagSet.revision)
        recorded = recorded.outerjoin(previous, condition)
    db.session().execute(insert(TagSetRevision).from_select(REVISION, recorded))


def is_previous(organization_id: Any, tag_set_id: Any, number: Any) -> ColumnElement[bool]:
    """Return the condition that `previous` is the revision before this one."""
    return and_(
        previous.organization_id == organization_id,
        previous.tag_set_id == tag_set_id,
        previous.number == number - 1,
    )


def describe_decision(kind: str, schema_id: Any, at: Any) -> tuple[Any, Any]:
    """Return the schema of a decision and the microseconds since `previous`; else nulls."""
    if kind not in DECISIONS:
        return null(), null()
    waited = extract("epoch", at - previous.created_at) * 1_000_000
    return schema_id, cast(waited, BigInteger)
