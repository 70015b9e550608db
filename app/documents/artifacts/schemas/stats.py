"""Request and response schemas of artifact statistics."""

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
    """Counts of artifacts; archived artifacts are counted only in `archived`."""

    total = Int(description="The number of artifacts that are not archived.")
    by_status = Nested(StatusCounts)
    archived = Int()


class ArtifactStatsFilters(Schema):
    """Filters of the artifacts to count."""

    schema_id = Uuid()
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class SchemaCounts(DocumentCounts):
    """Counts of the artifacts of a schema; id and name are null for artifacts without a schema."""

    schema_id = Uuid(allow_none=True)
    name = Str(allow_none=True)


class AgeCounts(Response):
    """The number of open artifacts by the time since they were created."""

    under_1_day = Int()
    under_1_week = Int()
    under_1_month = Int(description="A month has 30 days.")
    older = Int()


class ArtifactStats(DocumentCounts):
    """Counts of artifacts. Open artifacts are neither done, failed nor archived."""

    least_roles: ClassVar = {"gold": Role.reviewer}

    by_schema = List(Nested(SchemaCounts))
    by_age = Nested(AgeCounts)
    open = Int()
    overdue = Int(description="Open artifacts that were due before now.")
    unassigned = Int(description="Open artifacts that are assigned to nobody.")
    claimed = Int(description="Artifacts that are claimed by a user now.")
    gold = Int(
        allow_none=True, description="The number of gold documents; null for roles below reviewer."
    )
