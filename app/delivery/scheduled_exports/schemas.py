"""Request and response schemas for scheduled exports."""

from app.delivery.exports.schemas import (
    AppliedFilter,
    AppliedInclude,
    ExportError,
    ExportFilter,
    ExportInclude,
    ExportProgress,
)
from app.delivery.scheduled_exports.models import DeliveryStatus, Mode, Trigger
from app.delivery.scheduled_exports.service.describing import RUN_STATUSES
from app.delivery.scheduled_exports.service.destinations import KINDS
from app.kit import cron
from app.kit.api import read_only
from app.kit.api.fields import (
    Bool,
    Int,
    JsonObject,
    List,
    Name,
    Nested,
    OneOf,
    QueryBool,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.kit.api.read_only import ReadOnly

_MAX_BIGINT = 2**63 - 1
_CRON_TEXT = (
    "A cron expression with five fields and at least 15 minutes between two runs. A time that is"
    " skipped when daylight saving time begins is due immediately after the clock change. A time"
    " that occurs twice when daylight saving time ends is due once."
)
_TIME_ZONE_TEXT = (
    "The IANA time zone of the cron expression. The default is the organization's time zone."
)
_MODE_TEXT = (
    "`full`: each run exports everything that the filter selects. `incremental`: each run exports"
    " the tag sets accepted since the end of the last delivered period (all if there is none), and"
    " a row with the status `removed` for each accepted tag set reopened or deleted since then."
)
_SETTINGS_TEXT = (
    "The settings of the destination, including its secrets. s3: `bucket`, `prefix`, `region`,"
    " `endpoint_url`, `access_key_id`, `secret_access_key`. sftp: `host`, `port`, `path`,"
    " `username`, `password` or `private_key`, `host_key`. http: `url` (in the URL, `{name}` is"
    " replaced by the file name), and `username` and `password`, or `token`."
)


class ExportDestination(Schema):
    """The destination to which files are delivered, with its settings and secrets."""

    kind = Str(required=True, validate=OneOf(KINDS))
    settings = JsonObject(load_default=dict, description=_SETTINGS_TEXT)
    stored_secrets = ReadOnly(read_only.STRING_ARRAY)


class CreateScheduledExport(Schema):
    """The request body that creates a scheduled export."""

    name = Name(required=True)
    format_id = Str(data_key="format", required=True, max_length=64)
    filter_ = Nested(ExportFilter, data_key="filter", load_default=dict)
    options = JsonObject(load_default=dict, description="Options for the export format.")
    include = Nested(ExportInclude, load_default=dict)
    cron_expression = Str(
        data_key="cron", required=True, max_length=cron.MAX_LENGTH, description=_CRON_TEXT
    )
    time_zone = Str(max_length=64, allow_none=True, description=_TIME_ZONE_TEXT)
    mode = Str(validate=OneOf(tuple(Mode)), load_default=Mode.FULL.value, description=_MODE_TEXT)
    destination = Nested(
        ExportDestination, load_default=lambda: {"kind": "download", "settings": {}}
    )
    paused = Bool(load_default=False)


class UpdateScheduledExport(Schema):
    """The changes to a scheduled export; omitted properties stay the same."""

    name = Name()
    format_id = Str(data_key="format", max_length=64)
    filter_ = Nested(
        ExportFilter, data_key="filter", description="Replaces the whole stored filter."
    )
    options = JsonObject(description="Replaces all options.")
    include = Nested(ExportInclude, description="Replaces all properties of `include`.")
    cron_expression = Str(data_key="cron", max_length=cron.MAX_LENGTH, description=_CRON_TEXT)
    time_zone = Str(max_length=64)
    mode = Str(validate=OneOf(tuple(Mode)), description=_MODE_TEXT)
    destination = Nested(
        ExportDestination,
        description="Replaces the destination. If the request contains no secrets, the stored"
        " secrets are kept; this requires that the host and account stay the same. A URL without a"
        " query keeps the stored query if it is otherwise the same; a URL that ends with `?`"
        " removes the query.",
    )
    paused = Bool(
        description="Whether the export is paused. Runs that are missed during a pause are not"
        " started later."
    )
    revision = Int()


class ScheduledExportFilters(Schema):
    """Filters for the list of scheduled exports."""

    paused = QueryBool()
    format_id = Str(data_key="format", max_length=64)


class ExportDelivery(Response):
    """The delivery of a run's file to its destination."""

    status = Str(validate=OneOf(tuple(DeliveryStatus)))
    sent_bytes = Int(maximum=_MAX_BIGINT, description="How many bytes of the file have been sent.")
    delivered_at = UtcDateTime(allow_none=True)
    delivered_to = Str(allow_none=True, description="The location of the delivered file.")
    error = Nested(ExportError, allow_none=True, description="The latest delivery error.")


class ScheduledExportRun(Response):
    """A run of a scheduled export: an export job with the same id, and the delivery of its file."""

    id = Uuid()
    job_id = Uuid(description="The id of the export job; the same as the `id` of the run.")
    scheduled_export_id = Uuid()
    trigger = Str(validate=OneOf(tuple(Trigger)))
    due_at = UtcDateTime(allow_none=True, description="The scheduled time; null for a manual run.")
    covers_from = UtcDateTime(
        allow_none=True, description="The start of an incremental run's period, inclusive."
    )
    covers_until = UtcDateTime(
        allow_none=True, description="The end of an incremental run's period, exclusive."
    )
    status = Str(
        validate=OneOf(RUN_STATUSES),
        description="The status of the run. `delivering`: the file is complete, but has not reached"
        " its destination yet.",
    )
    format = Str()
    progress = Nested(ExportProgress)
    row_count = Int(allow_none=True)
    size_bytes = Int(allow_none=True, maximum=_MAX_BIGINT)
    sha256 = Str(allow_none=True)
    expires_at = UtcDateTime(allow_none=True)
    download_path = Str(allow_none=True)
    error = Nested(ExportError, allow_none=True)
    delivery = Nested(ExportDelivery)
    created_by = Uuid(allow_none=True)
    created_at = UtcDateTime()
    started_at = UtcDateTime(allow_none=True)
    finished_at = UtcDateTime(allow_none=True)


class StoredDestination(Response):
    """The destination to which files are delivered, without its secrets."""

    kind = Str(validate=OneOf(KINDS))
    settings = JsonObject(
        description="The settings without secrets. URLs are returned without their queries."
    )
    stored_secrets = List(
        Str(),
        description="The names of the stored secrets, and of URL settings with a stored query.",
    )


class ScheduledExport(Response):
    """An export that runs at the times of a cron expression, with its last run."""

    id = Uuid()
    name = Str()
    format = Str()
    filter = Nested(AppliedFilter)
    options = JsonObject()
    include = Nested(AppliedInclude)
    cron = Str()
    time_zone = Str()
    mode = Str(validate=OneOf(tuple(Mode)))
    destination = Nested(StoredDestination)
    paused = Bool()
    next_run_at = UtcDateTime(
        allow_none=True,
        description="The time of the next run; null if the export is paused or never due again.",
    )
    exported_until = UtcDateTime(
        allow_none=True,
        description="End of the last delivered period; null if the next run exports everything.",
    )
    last_run = Nested(ScheduledExportRun, allow_none=True)
    created_by = Uuid(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
    revision = Int()
