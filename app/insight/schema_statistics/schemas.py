"""Query and response schemas of schema statistics."""

from app.documents.artifacts.schemas.stats import DocumentCounts
from app.kit.api.fields import Float, Int, List, Nested, Response, Schema, UtcDateTime, Uuid

_TIMED = {
    "description": "The number of tag sets that people submitted and that have a recorded time."
}
_DECIDED = {"description": "The number of tag sets that are accepted now, plus all rejections."}


class StatsQuery(Schema):
    """The period in which the counted artifacts and tag sets were created; by default all time."""

    first = UtcDateTime(data_key="from")
    end = UtcDateTime(data_key="to", description="The end of the period, exclusive.")


class TagSetCounts(Response):
    """Numbers of tag sets by status."""

    draft = Int()
    submitted = Int()
    accepted = Int()
    rejected = Int()
    total = Int()


class LabelingSeconds(Response):
    """Labeling time in seconds; null if no tag set has a recorded time."""

    mean = Float(allow_none=True)
    median = Float(allow_none=True)
    timed = Int(metadata=_TIMED)


class Outcome(Response):
    """Numbers of tag sets and their outcome.

    `acceptance_rate` is between 0 and 1, and null if there are no decisions.
    """

    tag_sets = Nested(TagSetCounts)
    labeling_seconds = Nested(LabelingSeconds)
    decided = Int(metadata=_DECIDED)
    acceptance_rate = Float(allow_none=True)
    rejections = Int()
    auto_accepted = Int(description="Accepted without a reviewer.")


class SchemaVersionStats(Outcome):
    """Outcome of the tag sets of one version."""

    id = Uuid()
    number = Int()


class SchemaStats(Outcome):
    """Statistics of a schema and of each version, newest first."""

    schema_id = Uuid()
    first = UtcDateTime(allow_none=True, data_key="from")
    end = UtcDateTime(allow_none=True, data_key="to")
    artifacts = Nested(DocumentCounts)
    versions = List(Nested(SchemaVersionStats))
