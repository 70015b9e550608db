"""Label sets, as they are shown and listed."""

from app.kit.api.fields import Any_, Int, List, Nested, OneOf, Schema, Str, UtcDateTime, Uuid
from app.workflow.tag_sets.schemas.tags import Tag

STATES = ("draft", "submitted", "accepted", "rejected")
SOURCES = ("human", "model", "import", "merge")


class Person(Schema):
    """A user, as colleagues see them."""

    id = Uuid(required=True)
    email = Str(required=True)
    name = Str(required=True)


class Origin(Schema):
    """Where a value of a merge came from."""

    field = Str(required=True)
    row = Int(required=True, allow_none=True)
    value = Any_(required=True, allow_none=True)
    tag_set_ids = List(
        Uuid(), required=True, metadata={"description": "The label sets that say so."}
    )
    revisions = List(
        Int(),
        required=True,
        allow_none=True,
        dump_default=None,
        metadata={"description": "The revision of each of them that does. Null of older merges."},
    )
    by = Str(
        required=True,
        validate=OneOf(("agreement", "majority", "choice", "reviewer")),
        metadata={"description": "What decided: all of them, most, a choice, or its own words."},
    )


class TagSet(Schema):
    """A label set: one person's or model's labels of one document, or a merge of several."""

    id = Uuid(required=True)
    artifact_id = Uuid(required=True)
    schema_id = Uuid(required=True)
    schema_version_id = Uuid(required=True)
    labeler = Nested(Person, required=True, allow_none=True)
    reviewer = Nested(Person, required=True, allow_none=True)
    source = Str(required=True, validate=OneOf(SOURCES))
    tags = List(Nested(Tag), required=True)
    tag_count = Int(required=True)
    status = Str(required=True, validate=OneOf(STATES))
    submitted_at = UtcDateTime(required=True, allow_none=True)
    decided_at = UtcDateTime(required=True, allow_none=True)
    reason = Str(
        required=True, allow_none=True, metadata={"description": "What the reviewer said, if so."}
    )
    rejections = Int(
        required=True,
        metadata={
            "description": "How often it was rejected, and those before it on the document (only "
            "the labeler's own where several people label)."
        },
    )
    seconds_spent = Int(required=True)
    comment_count = Int(required=True)
    merged_from = List(
        Uuid(),
        required=True,
        allow_none=True,
        metadata={"description": "The label sets that a merge was made of."},
    )
    provenance = List(
        Nested(Origin),
        required=True,
        allow_none=True,
        metadata={"description": "Of a merge, where each of its values came from."},
    )
    superseded_by = Uuid(
        required=True,
        allow_none=True,
        metadata={"description": "The merge that stands for it."},
    )
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)
    revision = Int(required=True)


class TagSetListed(TagSet):
    """A label set in a list. Tags that are too many for a page of this size are left out (null),
    the provenance with them."""

    tags = List(
        Nested(Tag),
        required=True,
        allow_none=True,
        metadata={"description": "Null where they exceed 8 MiB divided by page_size."},
    )


class TagSetFilters(Schema):
    """Filters of the list."""

    artifact_id = Uuid()
    schema_id = Uuid()
    labeler_id = Uuid()
    reviewer_id = Uuid(metadata={"description": "The one that its `reviewer` is."})
    status = List(Str(validate=OneOf(STATES)), metadata={"description": "One of these states."})
    source = Str(validate=OneOf(SOURCES))
    created_after = UtcDateTime()
    created_before = UtcDateTime()
