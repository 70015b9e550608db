"""The answer about what a schema's documents and label sets have come to."""

from app.kit.api.fields import Float, Int, List, Nested, Schema, UtcDateTime, Uuid

_TIMED = {"description": "How many label sets tell how long they took: by people, submitted."}
_DECIDED = {"description": "Label sets accepted now, and all rejections that there were."}


class StatusCounts(Schema):
    """How many documents are in each state."""

    processing = Int(required=True)
    ready = Int(required=True)
    in_progress = Int(required=True)
    in_review = Int(required=True)
    done = Int(required=True)
    failed = Int(required=True)


class DocumentCounts(Schema):
    """How many documents there are; those that are archived count as such alone."""

    total = Int(required=True, metadata={"description": "Without those that are archived."})
    by_status = Nested(StatusCounts, required=True)
    archived = Int(required=True)


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
