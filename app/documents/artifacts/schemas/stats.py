"""Request and response schemas of artifact statistics."""

from typing import ClassVar

from app.kit.api.fields import Int, List, Nested, Schema, Str, UtcDateTime, Uuid
from app.kit.permissions import Role


class StatusCounts(Schema):
    """The number of artifacts by status."""

    processing = Int(required=True)
    ready = Int(required=True)
    in_progress = Int(required=True)
    in_review = Int(required=True)
    done = Int(required=True)
    failed = Int(required=True)


class DocumentCounts(Schema):
    """Counts of artifacts; archived artifacts are counted only in `archived`."""

    total = Int(required=True, metadata={"description": "Without archived artifacts."})
    by_status = Nested(StatusCounts, required=True)
    archived = Int(required=True)


class ArtifactStatsFilters(Schema):
    """Filters of the artifacts to count."""

    schema_id = Uuid()
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class SchemaCounts(DocumentCounts):
    """Counts of the artifacts of a schema; id and name are null for artifacts without a schema."""

    schema_id = Uuid(required=True, allow_none=True)
    name = Str(required=True, allow_none=True)


class AgeCounts(Schema):
    """The number of open artifacts by the time since they were created."""

    under_1_day = Int(required=True)
    under_1_week = Int(required=True)
    under_1_month = Int(required=True, metadata={"description": "Of 30 days."})
    older = Int(required=True)


class ArtifactStats(DocumentCounts):
    """Counts of artifacts. Open artifacts are neither done, failed nor archived."""

    least_roles: ClassVar = {"gold": Role.reviewer}

    by_schema = List(Nested(SchemaCounts), required=True)
    by_age = Nested(AgeCounts, required=True)
    open = Int(required=True)
    overdue = Int(required=True, metadata={"description": "Open, and due before now."})
    unassigned = Int(required=True, metadata={"description": "Open, and assigned to nobody."})
    claimed = Int(required=True, metadata={"description": "Claimed by a user now."})
    gold = Int(
        required=True, allow_none=True, metadata={"description": "Null for roles below reviewer."}
    )
