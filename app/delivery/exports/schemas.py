"""Request and response schemas for exports."""

from typing import Any

from marshmallow import post_load
from marshmallow.validate import Length

from app.delivery.exports.models import ExportStatus
from app.kit.api.fields import (
    Bool,
    Float,
    Int,
    JsonObject,
    List,
    Nested,
    OneOf,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.workflow.tag_sets.transitions import TagSetStatus

STATUSES = tuple(ExportStatus)
TAG_SET_STATUSES = tuple(TagSetStatus)
TAG_SET_SELECTIONS = ("accepted", "final", "latest", "all")
MAX_ARTIFACT_IDS = 1000
MAX_PREVIEW_ROWS = 50
_MAX_BIGINT = 2**63 - 1

_TAGS_TEXT = (
    "Selects from the tag sets that match the filter. `accepted`: all accepted tag sets."
    " `final`: one final tag set per document, which is the accepted merge or, without a merge, the"
    " tag set accepted last. `latest`: the newest tag set of each document, in any status. `all`:"
    " every tag set. The default is `accepted`, or `all` if `filter.statuses` has another status."
)
_PERIOD_TEXT = (
    "A period includes its start and excludes its end. A period without an end, or with an end in"
    " the future, ends at the time of the request; the response shows the applied end. If the next"
    " export begins at this end, each tag set is in exactly one of the two exports, even while tag"
    " sets are being saved."
)
_END_TEXT = "The applied end of the period, never in the future. Null if there is no period."


class ExportFilter(Schema):
    """The filter that selects tag sets; a tag set must match every given property.

    A property that is null counts as omitted, so that the filter of a response can be sent again.
    """

    schema_id = Uuid(allow_none=True)
    statuses = List(
        Str(validate=OneOf(TAG_SET_STATUSES)),
        allow_none=True,
        validate=Length(min=1, max=16),
        description=(
            "The statuses of the tag sets to export. By default, `accepted`, or every status if"
            " `include.tags` is `latest` or `all`."
        ),
    )
    created_after = UtcDateTime(
        allow_none=True,
        description=f"Selects tag sets created at or after this time. {_PERIOD_TEXT}",
    )
    created_before = UtcDateTime(allow_none=True)
    decided_after = UtcDateTime(
        allow_none=True,
        description=f"Selects tag sets accepted or rejected at or after this time. {_PERIOD_TEXT}",
    )
    decided_before = UtcDateTime(allow_none=True)
    artifact_ids = List(Uuid(), allow_none=True, validate=Length(min=1, max=MAX_ARTIFACT_IDS))
    labeler_id = Uuid(allow_none=True)

    @post_load
    def omit_null_properties(self, data: dict[str, Any], **_: object) -> dict[str, Any]:
        """Remove the properties that are null."""
        return {name: value for name, value in data.items() if value is not None}


class ExportInclude(Schema):
    """Selects the tag sets to export for each document, and the parts of each tag set."""

    tags = Str(validate=OneOf(TAG_SET_SELECTIONS), description=_TAGS_TEXT)
    evidence = Bool(
        description=(
            "Whether to export the evidence for each tag. True by default if the format keeps"
            " evidence; conll, spacy, coco and docile need it."
        )
    )
    text = Bool(
        description=(
            "Whether to export the document's text. True by default for label_studio, conll and"
            " spacy; spacy needs it."
        )
    )
    history = Bool(description="Whether to export every saved revision of the tags; default false.")
    removed = Bool(
        description=(
            "Whether to export a row with the status `removed` for each accepted tag set reopened"
            " or deleted in the period that begins at `filter.decided_after`; default false."
        )
    )


class CreateExport(Schema):
    """The request body that creates an export."""

    format_id = Str(
        data_key="format",
        required=True,
        max_length=64,
        description="The id of an export format, as returned by `GET /export-formats`.",
    )
    filter_ = Nested(ExportFilter, data_key="filter", load_default=dict)
    options = JsonObject(load_default=dict, description="Options for the export format.")
    include = Nested(ExportInclude, load_default=dict)


class PreviewExport(CreateExport):
    """The request body for a preview of an export; `limit` is the maximum number of rows."""

    limit = Int(minimum=1, maximum=MAX_PREVIEW_ROWS, load_default=10)


class AppliedFilter(Response):
    """The filter as it was applied; omitted properties are null."""

    schema_id = Uuid(allow_none=True)
    statuses = List(Str())
    created_after = UtcDateTime(allow_none=True)
    created_before = UtcDateTime(allow_none=True, description=_END_TEXT)
    decided_after = UtcDateTime(allow_none=True)
    decided_before = UtcDateTime(allow_none=True, description=_END_TEXT)
    artifact_ids = List(Uuid(), allow_none=True)
    labeler_id = Uuid(allow_none=True)


class AppliedInclude(Response):
    """The `include` object as it was applied, with defaults filled in."""

    tags = Str()
    evidence = Bool()
    text = Bool()
    history = Bool()
    removed = Bool()


class ExportProgress(Response):
    """The progress of an export, updated about once a second while the export is running."""

    done = Int(description="The number of exported tag sets.")
    total = Int(allow_none=True, description="The number of tag sets to export; null until known.")
    rate_per_second = Float(allow_none=True, description="The tag sets exported per second.")
    eta_seconds = Int(allow_none=True, description="The estimated seconds until the end.")


class ExportError(Response):
    """The reason why an export failed."""

    code = Str()
    message = Str()


class Export(Response):
    """An export job."""

    id = Uuid()
    format = Str()
    filter = Nested(AppliedFilter)
    options = JsonObject()
    include = Nested(AppliedInclude, attribute="applied_include")
    status = Str(validate=OneOf(STATUSES))
    progress = Nested(ExportProgress)
    row_count = Int(
        allow_none=True,
        description="The number of tag sets in the file, including removed tag sets.",
    )
    size_bytes = Int(allow_none=True, maximum=_MAX_BIGINT)
    sha256 = Str(allow_none=True, description="SHA-256 of the file.")
    expires_at = UtcDateTime(allow_none=True, description="When the file expires.")
    download_path = Str(allow_none=True)
    error = Nested(ExportError, allow_none=True)
    scheduled_export_id = Uuid(allow_none=True)
    created_by = Uuid(allow_none=True)
    started_at = UtcDateTime(allow_none=True)
    finished_at = UtcDateTime(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()


class ExportFilters(Schema):
    """Filters for the list of exports."""

    status = Str(validate=OneOf(STATUSES))
    format_id = Str(data_key="format", max_length=64)


class ExportPreview(Response):
    """The first rows of an export, and the total number of its tag sets."""

    count = Int(description="The number of tag sets in the export, including removed tag sets.")
    count_is_exact = Bool(
        description="Whether `count` is exact. If false, the export has more tag sets than `count`."
    )
    rows = List(
        JsonObject(),
        description=(
            "The first rows of the export, in the `jsonl` format: as many as fit into 1 MiB, but at"
            " least one. If the first row is larger, its history ends early."
        ),
    )
    content = Str(
        allow_none=True,
        description=(
            "The content of an export file that has only the rows in `rows`; null if the format is"
            " binary or includes the documents."
        ),
    )


class ManifestTool(Response):
    """The program that wrote the file."""

    name = Str()
    version = Str()


class ManifestVersion(Response):
    """A schema version that exported tag sets use."""

    id = Uuid()
    number = Int()
    row_count = Int(description="The number of tag sets in the file that use this version.")


class ManifestSchema(Response):
    """A schema that exported tag sets use, with the versions in use."""

    id = Uuid()
    name = Str()
    versions = List(Nested(ManifestVersion))


class ManifestFile(Response):
    """The file of an export."""

    name = Str()
    media_type = Str()
    size_bytes = Int(maximum=_MAX_BIGINT)
    sha256 = Str()


class ExportManifest(Response):
    """The manifest of an export: a description of its file."""

    job_id = Uuid()
    scheduled_export_id = Uuid(allow_none=True)
    tool = Nested(ManifestTool)
    snapshot_at = UtcDateTime(description="When the exported database snapshot was taken.")
    format = Str()
    options = JsonObject()
    filter = Nested(AppliedFilter)
    include = Nested(AppliedInclude)
    row_count = Int(description="The number of rows in the file, including removed tag sets.")
    removed_count = Int(description="The number of rows for removed tag sets.")
    schemas = List(Nested(ManifestSchema))
    file = Nested(ManifestFile)
