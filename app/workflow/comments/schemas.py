"""Bodies and answers of comments."""

from marshmallow import ValidationError

from app.kit.api.fields import Int, List, Nested, QueryBool, Schema, Str, UtcDateTime, Uuid
from app.workflow.tag_sets.schemas import Person

MAX_BODY = 10_000
MAX_MENTIONS = 50
_FIELD = {"description": "The key of a field, or table.column; null: the label set as a whole."}
_MAX_FIELD = 2 * 64 + 1
"""Two keys and a dot."""


def _said(value: str) -> None:
    if not value.strip():
        raise ValidationError("Must not be blank.")


class CreateComment(Schema):
    """A comment, the first of a thread or a reply."""

    body = Str(
        required=True, max_length=MAX_BODY, validate=_said, metadata={"description": "Markdown."}
    )
    field = Str(allow_none=True, max_length=_MAX_FIELD, metadata=_FIELD)
    parent_id = Uuid(
        allow_none=True, metadata={"description": "The comment that this is a reply to."}
    )
    mentions = List(
        Uuid(),
        max_items=MAX_MENTIONS,
        metadata={"description": "Members who may see the label set; they are notified."},
    )


class Comment(Schema):
    """What somebody said of a label set."""

    id = Uuid(required=True)
    tag_set_id = Uuid(required=True)
    thread_id = Uuid(
        required=True, metadata={"description": "The comment that began the thread; itself, if so."}
    )
    parent_id = Uuid(required=True, allow_none=True)
    author = Nested(Person, required=True)
    field = Str(required=True, allow_none=True, metadata=_FIELD)
    body = Str(required=True, metadata={"description": "Markdown."})
    mentions = List(Uuid(), required=True)
    resolved_at = UtcDateTime(
        required=True,
        allow_none=True,
        metadata={"description": "Of a thread, on the comment that began it."},
    )
    resolved_by = Nested(Person, required=True, allow_none=True)
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)
    revision = Int(required=True)


class CommentFilters(Schema):
    """Filters of the list."""

    field = Str(max_length=_MAX_FIELD)
    resolved = QueryBool(metadata={"description": "Whether the thread is resolved."})
    thread_id = Uuid()
    parent_id = Uuid()
    author_id = Uuid()
    created_after = UtcDateTime()
    created_before = UtcDateTime()
