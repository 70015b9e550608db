"""Request and response schemas of comments."""

from app.kit.api.fields import (
    Int,
    List,
    Nested,
    QueryBool,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.workflow.tag_sets.schemas.bodies import check_not_blank
from app.workflow.tag_sets.schemas.records import Person

MAX_BODY_LENGTH = 10_000
MAX_MENTIONS = 50
_FIELD_METADATA = {
    "description": "A field's key, or `table.column`. Null for a comment on the whole tag set."
}
_MAX_FIELD_LENGTH = 2 * 64 + 1
"""The maximum length of `table.column`: two keys of 64 characters and a dot."""


class CreateComment(Schema):
    """A new comment that starts a thread, or a reply to another comment."""

    body = Str(
        required=True,
        max_length=MAX_BODY_LENGTH,
        validate=check_not_blank,
        description="Markdown.",
    )
    field = Str(allow_none=True, max_length=_MAX_FIELD_LENGTH, metadata=_FIELD_METADATA)
    parent_id = Uuid(
        allow_none=True, description="The id of the comment to which this comment replies."
    )
    mentions = List(
        Uuid(),
        max_items=MAX_MENTIONS,
        description="Ids of the members to notify. They must be allowed to see the tag set.",
    )


class Comment(Response):
    """A comment on a tag set."""

    id = Uuid()
    tag_set_id = Uuid()
    thread_id = Uuid(
        description="The id of the first comment in the thread. On the first comment, its own id."
    )
    parent_id = Uuid(allow_none=True)
    author = Nested(Person)
    field = Str(allow_none=True, metadata=_FIELD_METADATA)
    body = Str(description="Markdown.")
    mentions = List(Uuid(), description="The ids of the mentioned members.")
    resolved_at = UtcDateTime(
        allow_none=True,
        description="When the thread was resolved. Set only on the first comment of the thread.",
    )
    resolved_by = Nested(Person, allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
    revision = Int()


class CommentFilters(Schema):
    """Filters for the list of comments."""

    field = Str(max_length=_MAX_FIELD_LENGTH)
    resolved = QueryBool(description="Whether the comment's thread is resolved.")
    thread_id = Uuid()
    parent_id = Uuid()
    author_id = Uuid()
