"""Request and response schemas of connectors."""

from app.engines.sources import TYPES, SourceErrorKind
from app.intake.connectors.statuses import AlertKind
from app.intake.ingestion_jobs.statuses import JobStatus
from app.kit import cron
from app.kit.api.fields import (
    Bool,
    Int,
    JsonObject,
    List,
    Name,
    Nested,
    OneOf,
    QueryBool,
    QueryInt,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)

_TYPES = tuple(TYPES)
_MAX_BIGINT = 2**63 - 1
_MAX_PATTERN = 500
_MAX_PATTERNS = 100
_SETTINGS = "The settings, including secrets, according to the JSON Schema of the type."
_SCHEDULE = (
    "A cron expression with five fields in the organization's time zone; null for no schedule."
)
_INCLUDE = "Patterns for paths to crawl, such as `invoices/**/*.pdf`; if empty, all paths."
_EXCLUDE = "Patterns for paths not to crawl."


def _build_patterns(description: str) -> List:
    return List(
        Str(min_length=1, max_length=_MAX_PATTERN), max_items=_MAX_PATTERNS, description=description
    )


class CreateConnector(Schema):
    """A request to create a connector."""

    name = Name(required=True)
    type = Str(required=True, max_length=50, metadata={"enum": list(_TYPES)})
    settings = JsonObject(required=True, description=_SETTINGS)
    schema_id = Uuid(allow_none=True, description="The schema of new documents.")
    enabled = Bool()
    schedule = Str(max_length=cron.MAX_LENGTH, allow_none=True, description=_SCHEDULE)
    include = _build_patterns(_INCLUDE)
    exclude = _build_patterns(_EXCLUDE)


class UpdateConnector(Schema):
    """The changes to a connector."""

    name = Name()
    settings = JsonObject(
        description="Replaces all settings. If the request contains no secrets, the stored secrets"
        " are kept; this requires that the host and account stay the same."
    )
    schema_id = Uuid(allow_none=True)
    enabled = Bool()
    schedule = Str(max_length=cron.MAX_LENGTH, allow_none=True, description=_SCHEDULE)
    include = _build_patterns(_INCLUDE)
    exclude = _build_patterns(_EXCLUDE)
    revision = Int()


class ConnectorFilters(Schema):
    """Filters for the list of connectors."""

    type = Str(validate=OneOf(_TYPES))
    enabled = QueryBool()
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class BrowseQuery(Schema):
    """The folder to browse."""

    path = Str(max_length=8192, load_default="", description="Empty for the root of the source.")
    limit = QueryInt(minimum=1, maximum=1000, load_default=100)


class AlertFilters(Schema):
    """Filters for the alerts of a connector."""

    is_open = QueryBool(data_key="open", description="True for open alerts, false for closed ones.")
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class TypeOfConnector(Response):
    """A type of connector."""

    type = Str(validate=OneOf(_TYPES))
    title = Str()
    settings_schema = JsonObject(
        description="The JSON Schema of the settings. Secrets have `writeOnly`."
    )


class LastCrawl(Response):
    """The latest crawl of a connector."""

    job_id = Uuid(description="The ingestion job of the crawl.")
    at = UtcDateTime(
        description="When the crawl ended. If it has not ended, when it began or was requested."
    )
    status = Str(validate=OneOf(tuple(JobStatus)))


class Connector(Response):
    """A source of documents."""

    id = Uuid()
    name = Str()
    type = Str(validate=OneOf(_TYPES))
    settings = JsonObject(description="The settings without secrets.")
    stored_secrets = List(Str(), description="The names of the stored secrets.")
    schema_id = Uuid(allow_none=True)
    enabled = Bool()
    schedule = Str(allow_none=True)
    next_crawl_at = UtcDateTime(
        allow_none=True, description="Null without a schedule, or if the schedule is suspended."
    )
    include = List(Str(), attribute="include_patterns")
    exclude = List(Str(), attribute="exclude_patterns")
    last_crawl = Nested(LastCrawl, allow_none=True)
    open_alert_count = Int()
    cursor = Str(
        allow_none=True, description="The path up to which the running crawl has handled documents."
    )
    created_by = Uuid(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
    revision = Int()


class ConnectorEntry(Response):
    """A folder or document of a source."""

    path = Str()
    name = Str()
    is_folder = Bool()
    size_bytes = Int(allow_none=True, maximum=_MAX_BIGINT)
    modified_at = UtcDateTime(allow_none=True)
    included = Bool(description="Whether a crawl would read this document.")


class ConnectorEntries(Response):
    """The first entries of a folder."""

    path = Str()
    entries = List(Nested(ConnectorEntry))


class ConnectorError(Response):
    """The reason why a source cannot be read."""

    kind = Str(validate=OneOf(tuple(SourceErrorKind)))
    message = Str()


class ConnectorTest(Response):
    """The result of a connector test."""

    ok = Bool()
    error = Nested(ConnectorError, allow_none=True)
    entries = List(Nested(ConnectorEntry), description="The first entries of the source.")


class AlertOfConnector(Response):
    """A problem of a connector."""

    id = Uuid()
    kind = Str(validate=OneOf(tuple(AlertKind)))
    message = Str()
    at = UtcDateTime(attribute="created_at")
    ingestion_job_id = Uuid(allow_none=True)
    acknowledged_by = Uuid(allow_none=True)
    acknowledged_at = UtcDateTime(allow_none=True)
    closed_at = UtcDateTime(allow_none=True, description="Null while the problem exists.")
