"""SQL of one person's list."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, DateTime, Integer, Select, String, Uuid, select, text

from app.kit import tenancy
from app.kit.pagination import Page, PageRequest, paginate
from app.review.workload.queries import todo

_MINE = (
    text(
        f"""
        WITH {todo.to_label(todo.ME, by_team=True)}, {todo.to_review(todo.ME)}, work AS (
            SELECT 'label' AS kind, artifact_id AS id, artifact_id, name, schema_id, tag_set_id,
                   team_id, priority, due_at, claimed_until, urgency
            FROM to_label
            UNION ALL
            SELECT 'review', tag_set_id, artifact_id, name, schema_id, tag_set_id,
                   NULL, priority, due_at, claimed_until, urgency
            FROM to_review WHERE :reviews
        )
        SELECT work.*, schemas.name AS schema_name FROM work
        LEFT JOIN schemas ON schemas.organization_id = :org AND schemas.id = work.schema_id
        """  # noqa: S608 - made of the parts above
    )
    .columns(
        kind=String,
        id=Uuid,
        artifact_id=Uuid,
        name=String,
        schema_id=Uuid,
        schema_name=String,
        tag_set_id=Uuid,
        team_id=Uuid,
        priority=Integer,
        due_at=DateTime(timezone=True),
        claimed_until=DateTime(timezone=True),
        urgency=BigInteger,
    )
    .subquery("mine")
)


def page(
    request: PageRequest,
    *,
    user_id: UUID,
    reviews: bool,
    self_review: bool,
    filters: dict[str, Any],
) -> Page:
    """A page of what a user has to do; `reviews` whether they may review, `self_review` whether
    their own label sets too."""
    statement = _filtered(select(_MINE), **filters).params(
        org=tenancy.current_organization_id(),
        me=user_id,
        reviews=reviews,
        self_review=self_review,
    )
    sorts = {"urgency": _MINE.c.urgency}
    return paginate(statement, request, sorts=sorts, unique=_MINE.c.id)


def _filtered(
    statement: Select[Any], *, due_before: datetime | None = None, **equal: Any
) -> Select[Any]:
    if due_before is not None:
        statement = statement.where(_MINE.c.due_at < due_before)
    for name, value in equal.items():
        statement = statement.where(_MINE.c[name] == value)
    return statement
