"""What a document's history shows."""

from app.kit import audit
from app.kit.api.fields import JsonObject, Nested, OneOf, Schema, Str, UtcDateTime, Uuid

KINDS = ("artifact", "tag_set")


class HistoryActor(Schema):
    """Who acted. A job is `system`."""

    kind = Str(required=True, validate=OneOf(audit.KINDS))
    id = Uuid(required=True, allow_none=True)
    label = Str(required=True)


class HistoryEntry(Schema):
    """One thing that happened."""

    id = Uuid(required=True)
    at = UtcDateTime(required=True)
    kind = Str(
        required=True,
        validate=OneOf(KINDS),
        metadata={"description": "What it happened to: the document, or one of its label sets."},
    )
    action = Str(
        required=True,
        metadata={"description": "As in `artifacts.update`, `tag_sets.submit`, `tag_sets.reject`."},
    )
    actor = Nested(HistoryActor, required=True)
    tag_set_id = Uuid(required=True, allow_none=True)
    note = Str(
        required=True,
        allow_none=True,
        metadata={"description": "What was said with a decision, as the reason of a rejection."},
    )
    changes = JsonObject(
        required=True,
        metadata={
            "description": "Of the document, by member what it was and what it became:"
            " `[from, to]`. What a label set held stands in its revisions."
        },
    )
