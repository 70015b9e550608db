"""What a document's history shows."""

from app.kit import audit
from app.kit.api.fields import JsonObject, Nested, OneOf, Schema, Str, UtcDateTime, Uuid

KINDS = ("artifact", "tag_set", "comment")


class HistoryFilters(Schema):
    """Filters of what happened: by its time."""

    created_after = UtcDateTime()
    created_before = UtcDateTime()


class HistoryActor(Schema):
    """Who acted. A job is `system`."""

    kind = Str(required=True, validate=OneOf(audit.KINDS))
    id = Uuid(required=True, allow_none=True)
    label = Str(required=True)


class RuleOfThen(Schema):
    """A routing rule, by the name that it had."""

    id = Uuid(required=True)
    name = Str(required=True)


class HistoryEntry(Schema):
    """One thing that happened."""

    id = Uuid(required=True)
    at = UtcDateTime(required=True)
    kind = Str(
        required=True,
        validate=OneOf(KINDS),
        metadata={
            "description": "What it happened to: the document, one of its label sets, or a comment."
        },
    )
    action = Str(
        required=True,
        metadata={"description": "As in `artifacts.update`, `tag_sets.submit`, `tag_sets.reject`."},
    )
    actor = Nested(HistoryActor, required=True)
    tag_set_id = Uuid(required=True, allow_none=True)
    comment_id = Uuid(required=True, allow_none=True)
    field = Str(
        required=True, allow_none=True, metadata={"description": "What a comment is about."}
    )
    rule = Nested(
        RuleOfThen,
        required=True,
        allow_none=True,
        metadata={"description": "The routing rule that matched the document."},
    )
    note = Str(
        required=True,
        allow_none=True,
        metadata={
            "description": "What was said: the reason of a skip, a rejection or an escalation, the"
            " beginning of a comment. Of what was accepted without a reviewer, what spared it one:"
            " `sampling`, `confidence` or `agreement`."
        },
    )
    changes = JsonObject(
        required=True,
        metadata={
            "description": "Of the document, by member what it was and what it became:"
            " `[from, to]`. What a label set held stands in its revisions."
        },
    )
