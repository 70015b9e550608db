"""The statistics of documents."""

from app.kit.api.fields import Int, List, Nested, Schema, Str, UtcDateTime, Uuid


class ArtifactStatsFilters(Schema):
    """Which documents to count."""

    schema_id = Uuid()
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class StatusCounts(Schema):
    """How many documents are in each state."""

    processing = Int(required=True)
    ready = Int(required=True)
    in_progress = Int(required=True)
    in_review = Int(required=True)
    done = Int(required=True)
    failed = Int(required=True)


class SchemaCounts(Schema):
    """The documents of a schema; both null: those that have none."""

    schema_id = Uuid(required=True, allow_none=True)
    name = Str(required=True, allow_none=True)
    total = Int(required=True)
    by_status = Nested(StatusCounts, required=True)


class AgeCounts(Schema):
    """How long ago open documents came in."""

    under_1_day = Int(required=True)
    under_1_week = Int(required=True)
    under_1_month = Int(required=True, metadata={"description": "Of 30 days."})
    older = Int(required=True)


class ArtifactStats(Schema):
    """Counts of documents that are not archived. Open: neither done nor failed."""

    total = Int(required=True)
    by_status = Nested(StatusCounts, required=True)
    by_schema = List(Nested(SchemaCounts), required=True)
    by_age = Nested(AgeCounts, required=True)
    open = Int(required=True)
    overdue = Int(required=True, metadata={"description": "Open, and due before now."})
    unassigned = Int(required=True, metadata={"description": "Open, and assigned to nobody."})
    claimed = Int(required=True, metadata={"description": "Held by somebody now."})
    gold = Int(required=True)
    archived = Int(required=True)
