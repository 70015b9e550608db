"""Query and response schemas of a document's history."""

from app.kit import audit
from app.kit.api.fields import JsonObject, Nested, OneOf, Schema, Str, UtcDateTime, Uuid

KINDS = ("artifact", "tag_set", "comment")


class HistoryFilters(Schema):
    """Filters of the history by time."""

    created_after = UtcDateTime()
    created_before = UtcDateTime()


class HistoryActor(Schema):
    """Actor of an entry; background jobs are `system`."""

    kind = Str(required=True, validate=OneOf(audit.KINDS))
    id = Uuid(required=True, allow_none=True)
    label = Str(required=True)


class RoutingRuleReference(Schema):
    """A routing rule with the name that it had at the time."""

    id = Uuid(required=True)
    name = Str(required=True)


class HistoryEntry(Schema):
    """One entry of the history."""

    id = Uuid(required=True)
    at = UtcDateTime(required=True)
    kind = Str(
        required=True,
        validate=OneOf(KINDS),
        metadata={
            "description": "What the entry is about: the document, a tag set of it, or a comment."
        },
    )
    action = Str(
        required=True,
        metadata={
            "description": "For example `artifacts.update`, `tag_sets.submit` or `tag_sets.reject`."
        },
    )
    actor = Nested(HistoryActor, required=True)
    tag_set_id = Uuid(required=True, allow_none=True)
    comment_id = Uuid(required=True, allow_none=True)
    field = Str(
        required=True,
        allow_none=True,
        metadata={"description": "The field that a comment is about."},
    )
    rule = Nested(
        RoutingRuleReference,
        required=True,
        allow_none=True,
        metadata={"description": "The routing rule that matched the document."},
    )
    note = Str(
        required=True,
        allow_none=True,
        metadata={
            "description": "The reason for a skip, a rejection or an escalation, or the beginning"
            " of a comment. If a tag set was accepted without a reviewer, why it needed none:"
            " `sampling`, `confidence` or `agreement`."
        },
    )
    changes = JsonObject(
        required=True,
        metadata={
            "description": "Changed members with their old and new values, as `[from, to]`. The"
            " tags of a tag set are in its revisions."
        },
    )
