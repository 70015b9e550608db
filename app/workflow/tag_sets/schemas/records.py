"""Schemas of tag sets and their tags in responses, and filters for the list of tag sets."""

from app.kit.api.fields import (
    Any_,
    Float,
    Int,
    List,
    Nested,
    OneOf,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.workflow.tag_sets.transitions import TagSetStatus

STATUSES = tuple(TagSetStatus)
SOURCES = ("human", "model", "import", "merge")
TAG_SOURCES = ("human", "model", "import")


class Person(Response):
    """A user as other members see them."""

    id = Uuid()
    email = Str()
    name = Str()


class Evidence(Response):
    """The location of a value in the document. Offsets count code points in the document's text."""

    page = Int(allow_none=True, description="The page number, from 1.")
    box = List(
        Float(),
        allow_none=True,
        description="[x0, y0, x1, y1], each 0 to 1, from the top left of the page.",
    )
    start = Int(allow_none=True)
    end = Int(allow_none=True)
    text = Str(allow_none=True, max_length=20_000)


class Tag(Response):
    """One value of a field, in the field's canonical form."""

    field = Str()
    value = Any_(allow_none=True, description="The type depends on the field.")
    row = Int(allow_none=True, description="The row number in a table, from 0.")
    confidence = Float(allow_none=True)
    source = Str(validate=OneOf(TAG_SOURCES))
    evidence = List(Nested(Evidence))


class TagProvenance(Response):
    """The origin of a value in a merge."""

    field = Str()
    row = Int(allow_none=True)
    value = Any_(allow_none=True)
    tag_set_ids = List(Uuid(), description="The tag sets that have this value.")
    revisions = List(
        Int(),
        allow_none=True,
        dump_default=None,
        description="The revision of each tag set in `tag_set_ids`. Null in older merges.",
    )
    by = Str(
        validate=OneOf(("agreement", "majority", "choice", "reviewer")),
        description=(
            "How the value was decided: by agreement of all tag sets, by majority, by a choice, or"
            " by the reviewer's own tag."
        ),
    )


class BasePrediction(Response):
    """The prediction from which a tag set was started."""

    id = Uuid()
    model_version = Str(allow_none=True)


class TagSet(Response):
    """A tag set: the tags of one artifact from a person, a model, an import or a merge."""

    id = Uuid()
    artifact_id = Uuid()
    schema_id = Uuid()
    schema_version_id = Uuid()
    labeler = Nested(Person, allow_none=True)
    reviewer = Nested(Person, allow_none=True)
    source = Str(validate=OneOf(SOURCES))
    tags = List(Nested(Tag))
    tag_count = Int()
    status = Str(validate=OneOf(STATUSES))
    submitted_at = UtcDateTime(allow_none=True)
    decided_at = UtcDateTime(allow_none=True)
    reason = Str(
        allow_none=True,
        description="The reviewer's reason for the last decision or reopening, if given.",
    )
    rejections = Int(
        description=(
            "The number of times that this tag set and earlier tag sets for the artifact were"
            " rejected. If several people label the artifact, only tag sets by the same labeler are"
            " counted."
        )
    )
    seconds_spent = Int(description="The total working time in seconds.")
    comment_count = Int()
    merged_from = List(
        Uuid(), allow_none=True, description="The ids of the tag sets that this merge combines."
    )
    provenance = List(
        Nested(TagProvenance), allow_none=True, description="The origin of each value in a merge."
    )
    superseded_by = Uuid(
        allow_none=True, description="The id of the merge that replaced this tag set."
    )
    prediction = Nested(
        BasePrediction,
        allow_none=True,
        description="The prediction from which the draft was started.",
    )
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
    revision = Int()


class TagSetSummary(TagSet):
    """A tag set in a list; tags and provenance are null if they are too large for the page."""

    tags = List(
        Nested(Tag),
        allow_none=True,
        description="Null if tags and provenance together are larger than 8 MiB divided by"
        " `page_size`. Request a smaller page to get them.",
    )


class TagSetFilters(Schema):
    """Filters for the list of tag sets."""

    artifact_id = Uuid()
    schema_id = Uuid()
    labeler_id = Uuid()
    reviewer_id = Uuid(description="The id of the user in `reviewer`.")
    status = List(Str(validate=OneOf(STATUSES)), description="The statuses to include.")
    source = Str(validate=OneOf(SOURCES))
