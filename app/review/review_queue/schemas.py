"""Answers of the review queue."""

from app.kit.api.fields import (
    Bool,
    Int,
    List,
    Nested,
    OneOf,
    QueryBool,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)

TAG_SET = "app.labeling.tag_sets.schemas.TagSetListed"
"""By its registered name: a room's schemas are its own to import, its shapes are everybody's."""

FLAGS = ("low_confidence", "disagreement", "resubmitted")


class ArtifactReference(Schema):
    """The document of a review item."""

    id = Uuid(required=True)
    name = Str(required=True)


class SchemaReference(Schema):
    """The schema of a review item."""

    id = Uuid(required=True)
    name = Str(required=True)


class ReviewClaim(Schema):
    """Who is reviewing an item, and until when nobody else may."""

    user_id = Uuid(required=True)
    expires_at = UtcDateTime(required=True)


class ReviewItem(Schema):
    """A label set that waits for review; its id is the label set's."""

    id = Uuid(required=True)
    tag_set = Nested(TAG_SET, required=True)
    artifact = Nested(ArtifactReference, required=True)
    schema = Nested(SchemaReference, required=True)
    age_seconds = Int(required=True, metadata={"description": "Since it was submitted."})
    priority = Int(required=True, metadata={"description": "The document's, 0 to 100."})
    due_at = UtcDateTime(required=True, allow_none=True)
    claim = Nested(ReviewClaim, required=True, allow_none=True)
    assignee_id = Uuid(required=True, allow_none=True)
    escalated = Bool(required=True)
    flags = List(Str(validate=OneOf(FLAGS)), required=True)
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)


class ReviewFilters(Schema):
    """Filters of the queue."""

    schema_id = Uuid()
    assignee_id = Uuid()
    labeler_id = Uuid()
    escalated = QueryBool()
    flag = Str(validate=OneOf(FLAGS))
    created_after = UtcDateTime()
    created_before = UtcDateTime()
