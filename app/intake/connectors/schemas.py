"""Request and response schemas for connectors."""

from app.engines.sources.model import HostErrorKind
from app.engines.sources.registry import TYPES
from app.intake.connectors.models import AlertKind
from app.intake.connectors.service.probing import MAX_SIZE_BYTES
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

_TYPE_NAMES = tuple(TYPES)
_MAX_PATTERN_LENGTH = 500
_MAX_PATTERNS = 100
_SETTINGS_TEXT = (
    "The settings of the connector, including secrets. `GET /connectors/types` returns the JSON"
    " Schema for each connector type."
)
_SCHEDULE_TEXT = (
    "A cron expression with five fields in the organization's time zone; null for no schedule."
)
_INCLUDE_TEXT = (
    "Patterns for paths to crawl, such as `invoices/**/*.pdf`; an empty list selects all paths."
)
_EXCLUDE_TEXT = "Patterns for paths that are not crawled."


def _build_patterns_field(description: str) -> List:
    return List(
        Str(min_length=1, max_length=_MAX_PATTERN_LENGTH),
        max_items=_MAX_PATTERNS,
        description=description,
    )


class CreateConnector(Schema):
    """The request body that creates a connector."""

    name = Name(required=True)
    type = Str(required=True, max_length=50, metadata={"enum": list(_TYPE_NAMES)})
    settings = JsonObject(required=True, description=_SETTINGS_TEXT)
    schema_id = Uuid(allow_none=True, description="The schema for labeling new documents.")
    enabled = Bool()
    schedule = Str(max_length=cron.MAX_LENGTH, allow_none=True, description=_SCHEDULE_TEXT)
    include = _build_patterns_field(_INCLUDE_TEXT)
    exclude = _build_patterns_field(_EXCLUDE_TEXT)


class UpdateConnector(Schema):
    """The changes to a connector; omitted properties stay the same."""

    name = Name()
    settings = JsonObject(
        description="Replaces all settings. If the request contains no secrets, the stored secrets"
        " are kept; this requires that the host and account stay the same. A URL without a query"
        " keeps the stored query if it is otherwise the same; a URL that ends with `?` removes the"
        " query."
    )
    schema_id = Uuid(allow_none=True)
    enabled = Bool()
    schedule = Str(max_length=cron.MAX_LENGTH, allow_none=True, description=_SCHEDULE_TEXT)
    include = _build_patterns_field(_INCLUDE_TEXT)
    exclude = _build_patterns_field(_EXCLUDE_TEXT)
    revision = Int()


class ConnectorFilters(Schema):
    """Filters for the list of connectors."""

    type = Str(validate=OneOf(_TYPE_NAMES))
    enabled = QueryBool()


class BrowseQuery(Schema):
    """The folder to browse, and the maximum number of entries to return."""

    path = Str(
        max_length=8192,
        load_default="",
        description="The path of the folder; empty for the root of the source.",
    )
    limit = QueryInt(minimum=1, maximum=1000, load_default=100)


class AlertFilters(Schema):
    """Filters for the alerts of a connector."""

    is_open = QueryBool(
        data_key="open", description="True for open alerts, false for closed alerts."
    )


class TypeOfConnector(Response):
    """A connector type that this installation offers."""

    type = Str(attribute="name", validate=OneOf(_TYPE_NAMES))
    title = Str()
    settings_schema = JsonObject(
        description="The JSON Schema for the settings. Secrets are marked as `writeOnly`."
    )


class LastCrawl(Response):
    """The latest crawl of a connector."""

    job_id = Uuid(description="The ingestion job of the crawl.")
    at = UtcDateTime(
        description="When the crawl ended or, if it has not ended, when it started or was queued."
    )
    status = Str(validate=OneOf(tuple(JobStatus)))


class Connector(Response):
    """A connection to a source of documents, with its latest crawl."""

    id = Uuid()
    name = Str()
    type = Str(validate=OneOf(_TYPE_NAMES))
    settings = JsonObject(
        description="The settings without secrets. URLs are returned without their queries."
    )
    stored_secrets = List(
        Str(),
        description="The names of the stored secrets, and of URL settings with a stored query.",
    )
    schema_id = Uuid(allow_none=True)
    enabled = Bool()
    schedule = Str(allow_none=True)
    next_crawl_at = UtcDateTime(
        allow_none=True,
        description="The time of the next scheduled crawl; null if the connector has no schedule or"
        " is disabled, or if the schedule is suspended.",
    )
    include = List(Str(), attribute="include_patterns")
    exclude = List(Str(), attribute="exclude_patterns")
    last_crawl = Nested(LastCrawl, allow_none=True)
    open_alert_count = Int()
    cursor = Str(
        allow_none=True,
        description="The path up to which the running crawl has handled documents; null if no crawl"
        " is running.",
    )
    created_by = Uuid(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
    revision = Int()


class ConnectorEntry(Response):
    """A folder or document in a source."""

    path = Str()
    name = Str()
    is_folder = Bool()
    size_bytes = Int(allow_none=True, maximum=MAX_SIZE_BYTES)
    modified_at = UtcDateTime(allow_none=True)
    included = Bool(description="Whether a crawl would read this document.")


class ConnectorEntries(Response):
    """The first entries of the folder at `path`."""

    path = Str()
    entries = List(Nested(ConnectorEntry))


class ConnectorError(Response):
    """The reason why a source cannot be read."""

    kind = Str(validate=OneOf(tuple(HostErrorKind)))
    message = Str()


class ConnectorTest(Response):
    """The result of a connector test: the first entries of the source, or the error."""

    ok = Bool()
    error = Nested(ConnectorError, allow_none=True)
    entries = List(Nested(ConnectorEntry), description="The first entries of the source.")


class AlertOfConnector(Response):
    """An alert about a problem with a connector."""

    id = Uuid()
    kind = Str(validate=OneOf(tuple(AlertKind)))
    message = Str()
    at = UtcDateTime(attribute="created_at", dump_only=True)
    ingestion_job_id = Uuid(allow_none=True)
    acknowledged_by = Uuid(allow_none=True)
    acknowledged_at = UtcDateTime(allow_none=True)
    closed_at = UtcDateTime(
        allow_none=True, description="When the alert was closed; null while it is open."
    )
    created_at = UtcDateTime(description="The same as `at`.")
    updated_at = UtcDateTime()
