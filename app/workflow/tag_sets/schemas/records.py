"""Response schemas of tag sets."""

from app.kit.api.fields import Any_, Int, List, Nested, OneOf, Schema, Str, UtcDateTime, Uuid
from app.workflow.tag_sets.schemas.tags import Tag
from app.workflow.tag_sets.transitions import TagSetStatus

STATES = tuple(TagSetStatus)
SOURCES = ("human", "model", "import", "merge")


class Person(Schema):
    """A user as colleagues see them."""

    id = Uuid(required=True)
    email = Str(required=True)
    name = Str(required=True)


class TagProvenance(Schema):
    """The origin of a value of a merge."""

    field = Str(required=True)
    row = Int(required=True, allow_none=True)
    value = Any_(required=True, allow_none=True)
    tag_set_ids = List(
        Uuid(), required=True, metadata={"description": "The tag sets that have this value."}
    )
    revisions = List(
        Int(),
        required=True,
        allow_none=True,
        dump_default=None,
        metadata={"description": "The revision of each of these tag sets. Null in older merges."},
    )
    by = Str(
        required=True,
        validate=OneOf(("agreement", "majority", "choice", "reviewer")),
        metadata={
            "description": "What decided: all tag sets agree, the majority, a choice, or the"
            " reviewer's tag."
        },
    )


class TagSet(Schema):
    """A tag set: the tags of one artifact by a person or a model, or a merge of several."""

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
        required=True, allow_none=True, metadata={"description": "The reviewer's reason, if given."}
    )
    rejections = Int(
        required=True,
        metadata={
            "description": "How often this tag set and earlier ones of the artifact were rejected;"
            " only the labeler's own if several people label the artifact."
        },
    )
    seconds_spent = Int(required=True)
    comment_count = Int(required=True)
    merged_from = List(
        Uuid(),
        required=True,
        allow_none=True,
        metadata={"description": "The sources of a merge."},
    )
    provenance = List(
        Nested(TagProvenance),
        required=True,
        allow_none=True,
        metadata={"description": "The origin of each value of a merge."},
    )
    superseded_by = Uuid(
        required=True,
        allow_none=True,
        metadata={"description": "The merge that replaced this tag set."},
    )
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)
    revision = Int(required=True)


class TagSetSummary(TagSet):
    """A tag set in a list; tags and provenance are null if they are too large for the page."""

    tags = List(
        Nested(Tag),
        required=True,
        allow_none=True,
        metadata={"description": "Null if they exceed 8 MiB divided by page_size."},
    )


class TagSetFilters(Schema):
    """Filters of the list of tag sets."""

    artifact_id = Uuid()
    schema_id = Uuid()
    labeler_id = Uuid()
    reviewer_id = Uuid(metadata={"description": "The user in `reviewer`."})
    status = List(Str(validate=OneOf(STATES)), metadata={"description": "Any of these statuses."})
    source = Str(validate=OneOf(SOURCES))
    created_after = UtcDateTime()
    created_before = UtcDateTime()
