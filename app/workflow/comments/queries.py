"""SQL of comments."""

from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, and_, case, func, null, select, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import aliased

from app.identity.users.models import User
from app.kit import db
from app.kit.pagination import Page, PageRequest, paginate
from app.workflow.comments.models import TagSetComment as Comment
from app.workflow.tag_sets.models import TagSet

TOLD = 500
"""How many characters of a comment a document's history tells."""

_DIRECT = {"synchronize_session": False}
_author = aliased(User)
_resolver = aliased(User)
_first = aliased(Comment)


def _person(user: Any, label: str) -> ColumnElement[Any]:
    built = func.jsonb_build_object(
        "id", user.id, "email", user.email, "name", user.name, type_=JSONB()
    )
    return case((user.id.is_not(None), built)).label(label)


_SHOWN = (
    select(
        Comment.id,
        Comment.tag_set_id,
        Comment.thread_id,
        Comment.parent_id,
        _person(_author, "author"),
        Comment.field,
        Comment.body,
        Comment.mentions,
        Comment.resolved_at,
        _person(_resolver, "resolved_by"),
        Comment.created_at,
        Comment.updated_at,
        Comment.revision,
    )
    .select_from(Comment)
    .join(_author, _author.id == Comment.author_id)
    .outerjoin(_resolver, _resolver.id == Comment.resolved_by_id)
)
_SORTS = {"thread": Comment.thread_id, "created_at": Comment.created_at}


def get(comment_id: UUID) -> Row[Any]:
    """One comment as it is shown."""
    return db.session().execute(_SHOWN.where(Comment.id == comment_id)).one()


def page(request: PageRequest, *, tag_set_id: UUID, filters: dict[str, Any]) -> Page:
    """A page of a label set's comments. `filters`: columns and their values, created_after,
    created_before, and resolved, which is the thread's."""
    conditions = [Comment.tag_set_id == tag_set_id, *map(_condition, filters.items())]
    return paginate(
        _SHOWN.where(*conditions),
        request,
        sorts=_SORTS,
        unique=Comment.id,
        count=select(Comment.id).where(*conditions),
    )


def _condition(told: tuple[str, Any]) -> ColumnElement[bool]:
    name, value = told
    found: ColumnElement[bool]
    if name == "created_after":
        found = Comment.created_at >= value
    elif name == "created_before":
        found = Comment.created_at < value
    elif name == "resolved":
        found = _resolved() if value else ~_resolved()
    else:
        found = getattr(Comment, name) == value
    return found


def _resolved() -> ColumnElement[bool]:
    """Whether the comment's thread is."""
    same = and_(_first.organization_id == Comment.organization_id, _first.id == Comment.thread_id)
    return select(_first.id).where(same, _first.resolved_at.is_not(None)).exists()


def acts(entries: Any) -> Any:
    """A SELECT of `entries` of the audit log about comments, with what was commented on and the
    beginning of what was said."""
    entry = entries.subquery("said").c
    return select(
        *entry,
        Comment.tag_set_id,
        Comment.field,
        func.left(Comment.body, TOLD).label("body"),
    ).join(Comment, Comment.id == entry.target_id)


def ids(tag_sets: Any) -> Any:
    """A SELECT of the ids of the comments on those label sets whose ids another SELECT finds."""
    return select(Comment.id).where(Comment.tag_set_id.in_(tag_sets))


def place(tag_set_id: UUID, comment_id: UUID) -> Any:
    """Thread and field of a comment of a label set; None when there is none."""
    statement = select(Comment.id, Comment.thread_id, Comment.field).where(
        Comment.tag_set_id == tag_set_id, Comment.id == comment_id
    )
    return db.session().execute(statement).one_or_none()


def count_one_more(tag_set_id: UUID) -> bool:
    """Count a comment on its label set, which is locked by that; False when it is gone."""
    counted = db.session().execute(
        update(TagSet)
        .where(TagSet.id == tag_set_id)
        .values(comment_count=TagSet.comment_count + 1, updated_at=TagSet.updated_at)
        .returning(TagSet.id)
        .execution_options(**_DIRECT)
    )
    return counted.first() is not None


def insert(values: dict[str, Any]) -> UUID:
    """Write a comment; its id."""
    comment = Comment(**values)
    db.session().add(comment)
    db.session().flush()
    return comment.id


def lock(tag_set_id: UUID, comment_id: UUID) -> Any:
    """Lock a comment of a label set for a change; None when there is none."""
    statement = select(
        Comment.id, Comment.thread_id, Comment.author_id, Comment.resolved_at, Comment.revision
    ).where(Comment.tag_set_id == tag_set_id, Comment.id == comment_id)
    return db.session().execute(statement.with_for_update(key_share=True)).one_or_none()


def resolve(comment_id: UUID, *, by: UUID) -> None:
    """Mark a locked comment resolved."""
    values = {"resolved_at": db.utc_now(), "resolved_by_id": by}
    _change(Comment.id == comment_id, values)


def reopen(comment_id: UUID) -> None:
    """Take back that a comment is resolved, if it is."""
    resolved = and_(Comment.id == comment_id, Comment.resolved_at.is_not(None))
    _change(resolved, {"resolved_at": null(), "resolved_by_id": null()})


def _change(which: ColumnElement[bool], values: dict[str, Any]) -> None:
    db.session().execute(
        update(Comment)
        .where(which)
        .values(**values, revision=Comment.revision + 1)
        .execution_options(**_DIRECT)
    )
