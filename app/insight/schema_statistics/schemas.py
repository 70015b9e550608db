"""Query and response schemas for schema statistics."""

from app.documents.artifacts.schemas.stats import DocumentCounts
from app.kit.api.fields import Float, Int, List, Nested, Response, Schema, UtcDateTime, Uuid


class StatsQuery(Schema):
    """The period in which the counted artifacts and tag sets were created; by default, all time."""

    first = UtcDateTime(data_key="from")
    end = UtcDateTime(data_key="to", description="The end of the period, exclusive.")


class TagSetCounts(Response):
    """The number of tag sets by status."""

    draft = Int()
    submitted = Int()
    accepted = Int()
    rejected = Int()
    total = Int()


class LabelingSeconds(Response):
    """Labeling time in seconds; null if no tag set has a recorded time."""

    mean = Float(allow_none=True)
    median = Float(allow_none=True)
    timed = Int(
        description="The number of tag sets that people submitted and that have a recorded time."
    )


class TagSetStatistics(Response):
    """Statistics for tag sets: numbers by status, labeling times, and review decisions.

    `acceptance_rate` is between 0 and 1, and null if there are no decisions.
    """

    tag_sets = Nested(TagSetCounts)
    labeling_seconds = Nested(LabelingSeconds)
    decided = Int(description="The number of accepted tag sets, plus the number of all rejections.")
    acceptance_rate = Float(allow_none=True)
    rejections = Int(description="A tag set is counted once for each of its rejections.")
    auto_accepted = Int(description="The number of tag sets accepted without a reviewer.")


class SchemaVersionStats(TagSetStatistics):
    """Statistics for the tag sets of one schema version."""

    id = Uuid()
    number = Int()


class SchemaStats(TagSetStatistics):
    """Statistics for a schema and for each of its versions, newest first."""

    schema_id = Uuid()
    first = UtcDateTime(allow_none=True, data_key="from")
    end = UtcDateTime(allow_none=True, data_key="to")
    artifacts = Nested(DocumentCounts)
    versions = List(Nested(SchemaVersionStats))
