"""SQL queries for comments."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Select, and_, exists, func, null, select, update
from sqlalchemy.orm import aliased

from app.identity.users.models import User, build_person
from app.kit import db
from app.kit.pagination import Page, PageRequest, paginate
from app.kit.periods import build_filter_conditions
from app.kit.tenancy import build_join
from app.workflow.comments.models import TagSetComment as Comment
from app.workflow.tag_sets.models import TagSet

MAX_HISTORY_CHARACTERS = 500
"""The maximum number of characters of a comment that an artifact's history shows."""


class CommentRow(NamedTuple):
    """A comment with its author and the user who resolved it."""

    id: UUID
    tag_set_id: UUID
    thread_id: UUID
    parent_id: UUID | None
    author: dict[str, Any]
    field: str | None
    body: str
    mentions: list[UUID]
    resolved_at: datetime | None
    resolved_by: dict[str, Any] | None
    created_at: datetime
    updated_at: datetime
    revision: int


class ParentComment(NamedTuple):
    """The properties of a parent comment that are needed to create a reply."""

    id: UUID
    thread_id: UUID
    field: str | None


class LockedComment(NamedTuple):
    """The properties of a locked comment that decide whether a user may resolve it."""

    id: UUID
    thread_id: UUID
    author_id: UUID
    resolved_at: datetime | None
    revision: int


_author = aliased(User)
_resolver = aliased(User)
_first_comment = aliased(Comment)

_SELECT_COMMENTS = (
    select(
        *db.build_columns(
            CommentRow._fields,
            Comment,
            author=build_person(_author),
            resolved_by=build_person(_resolver),
        )
    )
    .select_from(Comment)
    .join(_author, _author.id == Comment.author_id)
    .outerjoin(_resolver, _resolver.id == Comment.resolved_by_id)
)
_SORT_COLUMNS = {"thread": Comment.thread_id, "created_at": Comment.created_at}


def get(comment_id: UUID) -> CommentRow:
    """Return an existing comment with its author and the user who resolved it."""
    statement = _SELECT_COMMENTS.where(Comment.id == comment_id)
    return CommentRow._make(db.session().execute(statement).one())


def get_page(request: PageRequest, *, tag_set_id: UUID, filters: dict[str, Any]) -> Page:
    """Return a page of a tag set's comments.

    `filters` maps columns to values. Three other keys are allowed: created_after, created_before
    and resolved. `resolved` selects comments in resolved or unresolved threads.
    """
    column_filters = {name: value for name, value in filters.items() if name != "resolved"}
    conditions = build_filter_conditions(Comment, {**column_filters, "tag_set_id": tag_set_id})
    if "resolved" in filters:
        is_resolved = _build_resolved_condition()
        conditions.append(is_resolved if filters["resolved"] else ~is_resolved)
    return paginate(
        _SELECT_COMMENTS.where(*conditions),
        request,
        sort_columns=_SORT_COLUMNS,
        unique=Comment.id,
        counted_rows=select(Comment.id).where(*conditions),
    )


def _build_resolved_condition() -> ColumnElement[bool]:
    """Build the condition that a comment's thread is resolved."""
    is_first = build_join(Comment.thread_id, _first_comment)
    return exists().where(is_first, _first_comment.resolved_at.is_not(None))


def select_actions(entries: Select[Any]) -> Select[Any]:
    """Return a SELECT that joins audit log entries with the comments that they are about.

    The SELECT adds the columns tag_set_id, field and body. The body is shortened to
    `MAX_HISTORY_CHARACTERS`.
    """
    entry = entries.subquery("entries").c
    return select(
        *entry,
        Comment.tag_set_id,
        Comment.field,
        func.left(Comment.body, MAX_HISTORY_CHARACTERS).label("body"),
    ).join(Comment, Comment.id == entry.target_id)


def select_ids(tag_sets: Select[Any]) -> Select[Any]:
    """Return a SELECT for the ids of the comments on the tag sets whose ids `tag_sets` selects."""
    return select(Comment.id).where(Comment.tag_set_id.in_(tag_sets))


def find_parent(tag_set_id: UUID, parent_id: UUID) -> ParentComment | None:
    """Return the parent of a reply, or None if the tag set has no such comment."""
    statement = select(*db.build_columns(ParentComment._fields, Comment)).where(
        Comment.tag_set_id == tag_set_id, Comment.id == parent_id
    )
    return db.find_row(ParentComment, statement)


def increment_comment_count(tag_set_id: UUID) -> bool:
    """Lock a tag set and increment its comment count; return False if it does not exist."""
    result = db.execute_bulk(
        update(TagSet)
        .where(TagSet.id == tag_set_id)
        .values(comment_count=TagSet.comment_count + 1, updated_at=TagSet.updated_at)
        .returning(TagSet.id)
    )
    return result.first() is not None


def insert(comment: Comment) -> None:
    """Insert a comment."""
    db.session().add(comment)
    db.session().flush()


def lock(tag_set_id: UUID, comment_id: UUID) -> LockedComment | None:
    """Lock a comment on a tag set and return it, or None if it does not exist."""
    statement = select(*db.build_columns(LockedComment._fields, Comment)).where(
        Comment.tag_set_id == tag_set_id, Comment.id == comment_id
    )
    return db.find_row(LockedComment, statement.with_for_update(key_share=True))


def resolve(comment_id: UUID, *, by: UUID) -> None:
    """Mark a locked comment as resolved."""
    values = {"resolved_at": db.utc_now(), "resolved_by_id": by}
    _update_comments(Comment.id == comment_id, values)


def reopen(comment_id: UUID) -> None:
    """Reopen a thread by marking its first comment as unresolved, if the comment is resolved."""
    condition = and_(Comment.id == comment_id, Comment.resolved_at.is_not(None))
    _update_comments(condition, {"resolved_at": null(), "resolved_by_id": null()})


def _update_comments(condition: ColumnElement[bool], values: dict[str, Any]) -> None:
    db.execute_bulk(
        update(Comment).where(condition).values(**values, revision=Comment.revision + 1)
    )
