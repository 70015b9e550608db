"""SQL queries that record changes to tag sets as revisions."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    SQLColumnExpression,
    and_,
    cast,
    extract,
    insert,
    literal,
    null,
    select,
    update,
)
from sqlalchemy.orm import aliased

from app.kit import db, tenancy
from app.workflow.tag_sets.models import TagSet, TagSetRevision

_REVISION_COLUMNS = (
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

_DECISIONS = ("accept", "correction", "reject")
_previous = aliased(TagSetRevision)
"""The revision before the revision that is being recorded."""


def insert_revisions(
    tag_set_ids: Sequence[UUID], *, kind: str, author_id: UUID | None, note: str | None = None
) -> None:
    """Insert a revision for each tag set, with its current state."""
    recorded: Select[Any] = select(
        TagSet.organization_id,
        TagSet.id,
        TagSet.revision,
        TagSet.tags,
        literal(author_id, TagSetRevision.author_id.type),
        literal(kind),
        literal(note, TagSetRevision.note.type),
        TagSet.updated_at,
        *_build_decision_columns(kind, TagSet.schema_id, TagSet.updated_at),
    ).where(TagSet.id.in_(tag_set_ids))
    if kind in _DECISIONS:
        condition = _build_join_clause(TagSet.organization_id, TagSet.id, TagSet.revision)
        recorded = recorded.outerjoin(_previous, condition)
    db.session().execute(insert(TagSetRevision).from_select(_REVISION_COLUMNS, recorded))


def update_tag_sets(
    tag_set_ids: Sequence[UUID],
    values: Mapping[str, Any],
    *,
    kind: str,
    author_id: UUID | None,
    note: str | None = None,
) -> None:
    """Update locked tag sets with `values`, and record a revision of each tag set."""
    changed = (  # The ORM does not add the tenant filter inside an INSERT.
        update(TagSet)
        .where(TagSet.organization_id == tenancy.current_organization_id())
        .where(TagSet.id.in_(tag_set_ids))
        .values(**values, revision=TagSet.revision + 1)
        .returning(
            TagSet.organization_id,
            TagSet.id,
            TagSet.revision,
            TagSet.tags,
            TagSet.updated_at,
            TagSet.schema_id,
        )
        .cte("changed")
    )
    recorded: Select[Any] = select(
        changed.c.organization_id,
        changed.c.id,
        changed.c.revision,
        changed.c.tags,
        literal(author_id, TagSetRevision.author_id.type),
        literal(kind),
        literal(note, TagSetRevision.note.type),
        changed.c.updated_at,
        *_build_decision_columns(kind, changed.c.schema_id, changed.c.updated_at),
    )
    if kind in _DECISIONS:
        condition = _build_join_clause(changed.c.organization_id, changed.c.id, changed.c.revision)
        recorded = recorded.outerjoin_from(changed, _previous, condition)
    db.session().execute(insert(TagSetRevision).from_select(_REVISION_COLUMNS, recorded))


def _build_join_clause(
    organization_id: SQLColumnExpression[UUID],
    tag_set_id: SQLColumnExpression[UUID],
    number: SQLColumnExpression[int],
) -> ColumnElement[bool]:
    """Build the join clause that selects the revision before `number` as `_previous`."""
    return and_(
        _previous.organization_id == organization_id,
        _previous.tag_set_id == tag_set_id,
        _previous.number == number - 1,
    )


def _build_decision_columns(
    kind: str, schema_id: SQLColumnExpression[UUID], at: SQLColumnExpression[datetime]
) -> tuple[SQLColumnExpression[Any], ColumnElement[Any]]:
    """Build the columns `schema_id` and `waited_microseconds`, null unless `kind` is a decision."""
    if kind not in _DECISIONS:
        return null(), null()
    waited_microseconds = extract("epoch", at - _previous.created_at) * 1_000_000
    return schema_id, cast(waited_microseconds, BigInteger)
