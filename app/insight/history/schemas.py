"""Query and response schemas of a document's history."""

from app.kit import audit
from app.kit.api.fields import JsonObject, Nested, OneOf, Response, Schema, Str, UtcDateTime, Uuid

KINDS = ("artifact", "tag_set", "comment")


class HistoryFilters(Schema):
    """Filters of the history by time."""

    created_after = UtcDateTime()
    created_before = UtcDateTime()


class HistoryActor(Response):
    """Actor of an entry; background jobs are `system`."""

    kind = Str(validate=OneOf(audit.KINDS))
    id = Uuid(allow_none=True)
    label = Str()


class RoutingRuleReference(Response):
    """A routing rule with the name that it had at the time."""

    id = Uuid()
    name = Str()


class HistoryEntry(Response):
    """One entry of the history."""

    id = Uuid()
    at = UtcDateTime()
    kind = Str(
        validate=OneOf(KINDS),
        description="What the entry is about: the document, a tag set of it, or a comment.",
    )
    action = Str(
        description="For example `artifacts.update`, `tag_sets.submit` or `tag_sets.reject`."
    )
    actor = Nested(HistoryActor)
    tag_set_id = Uuid(allow_none=True)
    comment_id = Uuid(allow_none=True)
    field = Str(allow_none=True, description="The field that a comment is about.")
    rule = Nested(
        RoutingRuleReference,
        allow_none=True,
        description="The routing rule that matched the document.",
    )
    note = Str(
        allow_none=True,
        description=(
            "The reason for a skip, a rejection or an escalation, or the beginning"
            " of a comment. If a tag set was accepted without a reviewer, why it needed none:"
            " `sampling`, `confidence` or `agreement`."
        ),
    )
    changes = JsonObject(
        description=(
            "Changed members with their old and new values, as `[from, to]`. The"
            " tags of a tag set are in its revisions."
        )
    )
