"""Request and response schemas for ingestion jobs."""

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
    """Filters for the list of ingestion jobs."""

    status = List(
        Str(validate=OneOf(tuple(JobStatus))),
        description="Selects jobs that have one of these statuses.",
    )
    kind = Str(validate=OneOf(tuple(JobKind)))
    connector_id = Uuid()


class IngestionItemFilters(Schema):
    """Filters for the items of a job."""

    status = Str(validate=OneOf(tuple(ItemStatus)))


class IngestionStatsQuery(Schema):
    """The period in which the jobs were created; by default the last 30 days."""

    created_after = UtcDateTime(
        description="The start of the period, at most 366 days before the end."
    )
    created_before = UtcDateTime()


class IngestionProgress(Response):
    """The progress of a job, updated after each batch."""

    done = Int(
        description="The number of documents read in this run. Files from a ZIP archive, and"
        " reprocessed documents, may still have to be parsed."
    )
    total = Int(
        allow_none=True,
        description="The total number of documents; null until they have been counted.",
    )
    rate_per_second = Float(allow_none=True, description="The number of documents per second.")
    eta_seconds = Int(allow_none=True, description="The estimated remaining time of a running job.")


class IngestionCounts(Response):
    """The number of documents found, and the number with each outcome."""

    found = Int()
    created = Int()
    duplicate = Int(
        description="The number of documents whose content the organization already has."
    )
    skipped = Int(description="Ignored files of a ZIP archive, or unchanged documents of a crawl.")
    failed = Int()


class IngestionError(Response):
    """The reason why a job or a document failed."""

    code = Str()
    message = Str()


class IngestionJob(Response):
    """A job that imports a file, crawls a source, extracts tags, or reprocesses documents."""

    id = Uuid()
    kind = Str(validate=OneOf(tuple(JobKind)))
    name = Str(
        description="The name of the uploaded file, connector, document, source job or command."
    )
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
    """The outcome of one document in an ingestion job."""

    number = Int(description="The position in the job, starting at 1.")
    uri = Str(description="The origin of the document, such as `bills.csv#12` or a path.")
    status = Str(validate=OneOf(tuple(ItemStatus)))
    artifact_id = Uuid(
        allow_none=True,
        description="The document that was created, reprocessed or sent to a model, or the existing"
        " document with the same content.",
    )
    error = Nested(IngestionError, allow_none=True)
    seconds = Float(
        description="The time in seconds that it took to create or reprocess the document, or to"
        " predict its tags. For text documents, the average of their batch."
    )
    created_at = UtcDateTime()


class IngestionGroupStats(Response):
    """Statistics for a group of jobs."""

    jobs = Int()
    failed_jobs = Int()
    counts = Nested(IngestionCounts)
    seconds = Float(description="The total run time of the jobs in seconds.")
    rate_per_second = Float(
        allow_none=True, description="The number of handled documents per second."
    )


class DailyIngestion(IngestionGroupStats):
    """Statistics for the jobs created on one day (UTC)."""

    date = Date()


class KindIngestionStats(IngestionGroupStats):
    """Statistics for the jobs with one `kind`."""

    kind = Str(validate=OneOf(tuple(JobKind)))


class ConnectorIngestionStats(IngestionGroupStats):
    """Statistics for the jobs of one connector, or for all jobs without a connector."""

    connector_id = Uuid(allow_none=True)


class IngestionStats(IngestionGroupStats):
    """Statistics for the ingestion jobs created in a period."""

    created_after = UtcDateTime()
    created_before = UtcDateTime()
    by_day = List(Nested(DailyIngestion))
    by_kind = List(Nested(KindIngestionStats))
    by_connector = List(Nested(ConnectorIngestionStats))
