"""Query and response of the statistics of a schema."""

from app.documents.artifacts.schemas.stats import DocumentCounts
from app.kit.api.fields import Float, Int, List, Nested, Schema, UtcDateTime, Uuid

_TIMED = {"description": "Number of submitted tag sets by people that have a recorded time."}
_DECIDED = {"description": "Number of tag sets that are accepted now, plus all their rejections."}


class StatsQuery(Schema):
    """The period in which the counted artifacts and tag sets were created; by default all."""

    first = UtcDateTime(data_key="from")
    end = UtcDateTime(data_key="to", metadata={"description": "The end of the period, exclusive."})


class TagSetCounts(Schema):
    """Numbers of tag sets by status."""

    draft = Int(required=True)
    submitted = Int(required=True)
    accepted = Int(required=True)
    rejected = Int(required=True)
    total = Int(required=True)


class LabelingSeconds(Schema):
    """Labeling time in seconds; null if no tag set has a recorded time."""

    mean = Float(required=True, allow_none=True)
    median = Float(required=True, allow_none=True)
    timed = Int(required=True, metadata=_TIMED)


class Outcome(Schema):
    """Numbers of tag sets and their outcome.

    The rate is between 0 and 1, and null without decisions.
    """

    tag_sets = Nested(TagSetCounts, required=True)
    labeling_seconds = Nested(LabelingSeconds, required=True)
    decided = Int(required=True, metadata=_DECIDED)
    acceptance_rate = Float(required=True, allow_none=True)
    rejections = Int(required=True)
    auto_accepted = Int(required=True, metadata={"description": "Accepted without a reviewer."})


class SchemaVersionStats(Outcome):
    """Outcome of the tag sets of one version."""

    id = Uuid(required=True)
    number = Int(required=True)


class SchemaStats(Outcome):
    """Statistics of a schema and of each version, newest first."""

    schema_id = Uuid(required=True)
    first = UtcDateTime(required=True, allow_none=True, data_key="from")
    end = UtcDateTime(required=True, allow_none=True, data_key="to")
    artifacts = Nested(DocumentCounts, required=True)
    versions = List(Nested(SchemaVersionStats), required=True)
