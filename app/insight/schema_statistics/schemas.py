"""Query and response of the statistics of a schema."""

from app.documents.artifacts.schemas.stats import DocumentCounts
from app.kit.api.fields import Float, Int, List, Nested, Schema, UtcDateTime, Uuid

_TIMED = {"description": "How many label sets tell how long they took: by people, submitted."}
_DECIDED = {"description": "Label sets accepted now, and all rejections that there were."}


class StatsQuery(Schema):
    """The period in which the counted artifacts and tag sets were created; by default all."""

    first = UtcDateTime(data_key="from")
    end = UtcDateTime(data_key="to", metadata={"description": "The first moment after the period."})


class TagSetCounts(Schema):
    """Label sets by status."""

    draft = Int(required=True)
    submitted = Int(required=True)
    accepted = Int(required=True)
    rejected = Int(required=True)
    total = Int(required=True)


class LabelingSeconds(Schema):
    """How long labeling took; null where no label set tells."""

    mean = Float(required=True, allow_none=True)
    median = Float(required=True, allow_none=True)
    timed = Int(required=True, metadata=_TIMED)


class Outcome(Schema):
    """What became of label sets. The rate is in 0..1, null where nothing was decided."""

    tag_sets = Nested(TagSetCounts, required=True)
    labeling_seconds = Nested(LabelingSeconds, required=True)
    decided = Int(required=True, metadata=_DECIDED)
    acceptance_rate = Float(required=True, allow_none=True)
    rejections = Int(required=True)
    auto_accepted = Int(required=True, metadata={"description": "Accepted without a reviewer."})


class VersionOutcome(Outcome):
    """What became of the label sets of one version."""

    id = Uuid(required=True)
    number = Int(required=True)


class SchemaStats(Outcome):
    """Documents and label sets of a schema; the versions' newest first."""

    schema_id = Uuid(required=True)
    first = UtcDateTime(required=True, allow_none=True, data_key="from")
    end = UtcDateTime(required=True, allow_none=True, data_key="to")
    artifacts = Nested(DocumentCounts, required=True)
    versions = List(Nested(VersionOutcome), required=True)
