"""Request and response schemas of ingestion jobs."""

from app.intake.ingestion_jobs.statuses import ItemStatus, JobKind, JobStatus
from app.kit.api.fields import (
    Date,
    Float,
    Int,
    List,
    Nested,
    OneOf,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)

_MAX_BIGINT = 2**63 - 1


class IngestionJobFilters(Schema):
    """Filters of the list of ingestion jobs."""

    status = List(Str(validate=OneOf(tuple(JobStatus))), description="One of these statuses.")
    kind = Str(validate=OneOf(tuple(JobKind)))
    connector_id = Uuid()
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class IngestionItemFilters(Schema):
    """Filters of the items of a job."""

    status = Str(validate=OneOf(tuple(ItemStatus)))
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class IngestionStatsQuery(Schema):
    """The period in which the jobs were created; by default the last 30 days."""

    created_after = UtcDateTime(description="At most 366 days before the end.")
    created_before = UtcDateTime()


class IngestionProgress(Response):
    """The progress of a job, updated after each batch."""

    done = Int(description="Documents read in this run; files of a ZIP may still be parsed then.")
    total = Int(allow_none=True, description="Null until the documents have been counted.")
    rate_per_second = Float(allow_none=True)
    eta_seconds = Int(allow_none=True)


class IngestionCounts(Response):
    """The number of documents found, and of those with each outcome."""

    found = Int()
    created = Int()
    duplicate = Int(description="The organization already has the same content.")
    skipped = Int()
    failed = Int()


class IngestionError(Response):
    """The reason why a job or a document failed."""

    code = Str()
    message = Str()


class IngestionJob(Response):
    """An ingestion job."""

    id = Uuid()
    kind = Str(validate=OneOf(tuple(JobKind)))
    name = Str(description="The name of the uploaded file, or of the connector.")
    format = Str(allow_none=True)
    size_bytes = Int(allow_none=True, maximum=_MAX_BIGINT)
    connector_id = Uuid(allow_none=True)
    status = Str(validate=OneOf(tuple(JobStatus)))
    progress = Nested(IngestionProgress)
    counts = Nested(IngestionCounts)
    error = Nested(IngestionError, allow_none=True)
    created_by = Uuid(allow_none=True)
    started_at = UtcDateTime(allow_none=True)
    finished_at = UtcDateTime(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()


class IngestionItem(Response):
    """The outcome of one document of a job."""

    number = Int(description="The position in the source, beginning with 1.")
    uri = Str()
    status = Str(validate=OneOf(tuple(ItemStatus)))
    artifact_id = Uuid(
        allow_none=True,
        description="The document that was created, or the one with the same content.",
    )
    error = Nested(IngestionError, allow_none=True)
    seconds = Float(description="The time to create it; for texts the mean of their batch.")
    created_at = UtcDateTime()


class IngestionSums(Response):
    """The sums of a group of jobs."""

    jobs = Int()
    failed_jobs = Int()
    counts = Nested(IngestionCounts)
    seconds = Float(description="The time during which the jobs ran.")
    rate_per_second = Float(allow_none=True, description="Handled documents per second.")


class DailyIngestion(IngestionSums):
    """The sums of the jobs that were created on one day (UTC)."""

    date = Date()


class IngestionOfKind(IngestionSums):
    """The sums of the jobs of one kind."""

    kind = Str(validate=OneOf(tuple(JobKind)))


class IngestionOfConnector(IngestionSums):
    """The sums of the jobs of one connector, or of those without one."""

    connector_id = Uuid(allow_none=True)


class IngestionStats(IngestionSums):
    """Statistics of the ingestion jobs of a period."""

    created_after = UtcDateTime()
    created_before = UtcDateTime()
    by_day = List(Nested(DailyIngestion))
    by_kind = List(Nested(IngestionOfKind))
    by_connector = List(Nested(IngestionOfConnector))
