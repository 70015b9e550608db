"""SQL of recording changes of label sets as revisions."""

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
"""What an INSERT of a revision writes."""

DECISIONS = ("accept", "correction", "reject")
earlier: Any = aliased(TagSetRevision)
"""The revision before the one that is recorded."""


def note(tag_set_id: UUID, *, kind: str, author_id: UUID | None, note: str | None) -> None:
    """Record what a label set is now as its next revision."""
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
        before = is_before(TagSet.organization_id, TagSet.id, TagSet.revision)
        recorded = recorded.outerjoin(earlier, before)
    db.session().execute(insert(TagSetRevision).from_select(REVISION, recorded))


def is_before(organization_id: Any, tag_set_id: Any, number: Any) -> ColumnElement[bool]:
    """Return whether `earlier` is the revision before that one."""
    return and_(
        earlier.organization_id == organization_id,
        earlier.tag_set_id == tag_set_id,
        earlier.number == number - 1,
    )


def describe_decision(kind: str, schema_id: Any, at: Any) -> tuple[Any, Any]:
    """Return the schema of a decision, and how long after `earlier` it was made; else nulls."""
    if kind not in DECISIONS:
        return null(), null()
    waited = extract("epoch", at - earlier.created_at) * 1_000_000
    return schema_id, cast(waited, BigInteger)
