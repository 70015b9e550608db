"""The statistics of documents."""

from typing import ClassVar

from app.kit.api.fields import Int, List, Nested, Schema, Str, UtcDateTime, Uuid
from app.kit.permissions import Role


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


class ArtifactStatsFilters(Schema):
    """Which documents to count."""

    schema_id = Uuid()
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class SchemaCounts(DocumentCounts):
    """The documents of a schema; id and name null: those that have none."""

    schema_id = Uuid(required=True, allow_none=True)
    name = Str(required=True, allow_none=True)


class AgeCounts(Schema):
    """How long ago open documents came in."""

    under_1_day = Int(required=True)
    under_1_week = Int(required=True)
    under_1_month = Int(required=True, metadata={"description": "Of 30 days."})
    older = Int(required=True)


class ArtifactStats(DocumentCounts):
    """Counts of documents. Open: neither done nor failed, and not archived."""

    least_roles: ClassVar = {"gold": Role.reviewer}

    by_schema = List(Nested(SchemaCounts), required=True)
    by_age = Nested(AgeCounts, required=True)
    open = Int(required=True)
    overdue = Int(required=True, metadata={"description": "Open, and due before now."})
    unassigned = Int(required=True, metadata={"description": "Open, and assigned to nobody."})
    claimed = Int(required=True, metadata={"description": "Held by somebody now."})
    gold = Int(required=True, allow_none=True, metadata={"description": "Null below reviewers."})
