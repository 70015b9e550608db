"""Query and response schemas for a document's history."""

from app.kit import audit
from app.kit.api.fields import JsonObject, Nested, OneOf, Response, Str, UtcDateTime, Uuid

KINDS = ("artifact", "tag_set", "comment")


class HistoryActor(Response):
    """The actor that caused an entry; `kind` is `system` for background jobs."""

    kind = Str(validate=OneOf(audit.ACTOR_KINDS))
    id = Uuid(allow_none=True)
    label = Str()


class RoutingRuleReference(Response):
    """A routing rule, with its name at the time of the entry."""

    id = Uuid()
    name = Str()


class HistoryEntry(Response):
    """An action on an artifact, or a change to the artifact, its tag sets or their comments."""

    id = Uuid()
    at = UtcDateTime()
    kind = Str(
        validate=OneOf(KINDS),
        description="The subject of the entry: the document, a tag set or a comment.",
    )
    action = Str(description="What was done, for example `artifacts.update` or `tag_sets.submit`.")
    actor = Nested(HistoryActor)
    tag_set_id = Uuid(allow_none=True)
    comment_id = Uuid(allow_none=True)
    field = Str(allow_none=True, description="The field to which a comment refers.")
    rule = Nested(
        RoutingRuleReference,
        allow_none=True,
        description="The routing rule that matched the document; null in other entries.",
    )
    note = Str(
        allow_none=True,
        description=(
            "The reason for a skip, a rejection or an escalation, or the beginning of a comment. If"
            " a tag set was accepted without a reviewer, the reason why it needed no review:"
            " `sampling`, `confidence` or `agreement`."
        ),
    )
    changes = JsonObject(
        description=(
            "The changed properties with their old and new values, as `[from, to]`. The tags of a"
            " tag set are in its revisions."
        )
    )
