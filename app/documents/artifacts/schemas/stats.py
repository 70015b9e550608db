"""Request and response schemas for artifact statistics."""

from typing import ClassVar

from app.kit.api.fields import Int, List, Nested, Response, Schema, Str, UtcDateTime, Uuid
from app.kit.permissions import Role


class StatusCounts(Response):
    """The number of artifacts by status."""

    processing = Int()
    ready = Int()
    in_progress = Int()
    in_review = Int()
    done = Int()
    failed = Int()


class DocumentCounts(Response):
    """The number of artifacts. Archived artifacts are counted only in `archived`."""

    total = Int(description="The number of artifacts that are not archived.")
    by_status = Nested(StatusCounts)
    archived = Int()


class ArtifactStatsFilters(Schema):
    """Filters for the artifacts to count."""

    schema_id = Uuid()
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class SchemaCounts(DocumentCounts):
    """The number of artifacts of a schema; id and name are null for artifacts without a schema."""

    schema_id = Uuid(allow_none=True)
    name = Str(allow_none=True)


class AgeCounts(Response):
    """The number of open artifacts by the time since they were created."""

    under_1_day = Int()
    under_1_week = Int(description="The number of open artifacts that are 1 to 7 days old.")
    under_1_month = Int(description="The number of open artifacts that are 7 to 30 days old.")
    older = Int(description="The number of open artifacts that are more than 30 days old.")


class ArtifactStats(DocumentCounts):
    """Statistics of artifacts. Artifacts that are done, failed or archived are not open."""

    min_roles: ClassVar = {"gold": Role.reviewer}

    by_schema = List(Nested(SchemaCounts))
    by_age = Nested(AgeCounts)
    open = Int()
    overdue = Int(description="The number of open artifacts whose due time has passed.")
    unassigned = Int(description="The number of open artifacts that are not assigned to anyone.")
    claimed = Int(description="The number of artifacts that are currently claimed.")
    gold = Int(
        allow_none=True, description="The number of gold documents; null for roles below reviewer."
    )
