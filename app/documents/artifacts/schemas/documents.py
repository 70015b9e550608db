"""Request and response schemas for artifacts."""

from typing import ClassVar, Unpack

from marshmallow import ValidationError

from app.documents.artifacts.names import MAX_NAME_LENGTH, NAME_PATTERN, check_name
from app.documents.artifacts.property_rules import MAX_TEXT_LENGTH
from app.documents.artifacts.schemas.metadata import (
    METADATA_SCHEMA,
    METADATA_TEXT_SCHEMA,
    Metadata,
    MetadataText,
)
from app.documents.artifacts.statuses import ArtifactStatus, OcrStatus
from app.kit.api import bulk
from app.kit.api.alternatives import AlternativesSchema
from app.kit.api.fields import (
    MAX_FORM_BYTES,
    Bool,
    Data,
    FieldOptions,
    Int,
    JsonObject,
    List,
    Nested,
    OneOf,
    QueryBool,
    QueryInt,
    Response,
    Schema,
    Str,
    UploadSchema,
    UtcDateTime,
    Uuid,
)
from app.kit.permissions import Role

TEXT_LAYER_METADATA = {
    "description": "Whether any page has selectable text. False for scans and photographs; null"
    " until the document has been read."
}
_OCR_METADATA = {
    "description": "The status of text recognition on scanned pages. `none`: no page needs it, or"
    " the file has not been read; `pending`: the artifact is processing until text recognition is"
    " done; `done`: all scanned pages were recognized; `off`: the operator has turned text"
    " recognition off; `failed`: at least one page could not be recognized."
}
_ATTACHMENT_COUNT_METADATA = {
    "description": "The number of attachments and forwarded messages in an email, or of emails in"
    " an mbox file, at most 1,000, not counting small pictures in the text. Null until the file has"
    " been read, and for documents of other types. An attachment that cannot be imported, or that"
    " was attached to another email before, has no artifact with the email's id as `parent_id`."
}
IMAGE_FORMATS = ("png", "jpeg", "webp")


class DocumentName(Str):
    """A document name, validated by `names.check_name`."""

    def __init__(self, **options: Unpack[FieldOptions]) -> None:
        options["metadata"] = {"pattern": NAME_PATTERN, **options.get("metadata", {})}
        super().__init__(min_length=1, max_length=MAX_NAME_LENGTH, **options)

    def _deserialize(self, value: object, attr: str | None, data: Data, **options: object) -> str:
        text = super()._deserialize(value, attr, data, **options)
        try:
            return check_name(text)
        except ValueError as error:
            raise ValidationError(str(error)) from None


class CreateArtifact(Schema):
    """An artifact to create from text."""

    name = DocumentName(required=True)
    text = Str(required=True, max_length=MAX_TEXT_LENGTH)
    schema_id = Uuid(allow_none=True, load_default=None)
    external_id = Str(max_length=255, allow_none=True, load_default=None)
    metadata = Metadata(load_default=dict, metadata=METADATA_SCHEMA)
    priority = Int(maximum=100, load_default=50)
    due_at = UtcDateTime(allow_none=True, load_default=None)
    gold = Bool(load_default=False)
    archived = Bool(load_default=False)


class UploadArtifact(UploadSchema):
    """A file, or a text with a name. If a file is sent without `name`, its file name is used."""

    instead_of_file = ("text", "name")

    text = Str(
        load_default=None,
        max_length=MAX_FORM_BYTES,
        metadata={
            "description": "The text of the document, instead of a file. If it is too long for a"
            " form, send it as a file or as JSON."
        },
    )
    name = DocumentName(load_default=None)
    schema_id = Uuid(load_default=None)
    external_id = Str(max_length=255, load_default=None)
    metadata = MetadataText(load_default=dict, metadata=METADATA_TEXT_SCHEMA)
    priority = QueryInt(maximum=100, load_default=50)
    due_at = UtcDateTime(load_default=None)
    gold = QueryBool(load_default=False)
    archived = QueryBool(load_default=False)


class _ArchivedFilter(Str):
    """The filter `archived`: `true`, `false` or `any`. A JSON body may also contain a boolean."""

    def _deserialize(self, value: object, attr: str | None, data: Data, **options: object) -> str:
        text = str(value).lower() if isinstance(value, bool) else value
        return super()._deserialize(text, attr, data, **options)


class ArtifactFilters(Schema):
    """Filters for the list of artifacts. Archived artifacts are excluded by default."""

    status = List(Str(validate=OneOf(tuple(ArtifactStatus))), description="Only these statuses.")
    schema_id = Uuid()
    media_type = Str(max_length=200)
    language = Str(max_length=35)
    ocr = Str(validate=OneOf(tuple(OcrStatus)), description="Only this text recognition status.")
    external_id = Str(max_length=255)
    parent_id = Uuid(description="Only artifacts attached to this email or mailbox.")
    gold = QueryBool(
        description="Whether the artifact is a gold document. Only reviewers may use this filter."
    )
    archived = _ArchivedFilter(validate=OneOf(["true", "false", "any"]), load_default="false")
    assignee = Uuid(description="Only artifacts assigned to this user or team.")
    assigned = QueryBool(description="Whether the artifact is assigned to a user or a team.")
    due_after = UtcDateTime(description="Only artifacts due at or after this time.")
    due_before = UtcDateTime(description="Only artifacts due before this time.")
    created_after = UtcDateTime()
    created_before = UtcDateTime()
    q = Str(
        min_length=1,
        max_length=500,
        description=(
            "Words to find in the name, metadata or text, including inflected forms in the"
            ' document\'s language. Supports "exact phrase", or, -not.'
        ),
    )


class ArtifactSelection(AlternativesSchema):
    """The artifacts to change: up to 1,000 by id, or all artifacts that match a filter.

    `expected_count` is required with a filter. If the filter matches a different number of
    artifacts, no artifact is changed, and the response is 409.
    """

    alternatives = (("artifact_ids",), bulk.BY_FILTER)

    artifact_ids = bulk.build_ids_field()
    filter = Nested(ArtifactFilters)
    expected_count = Int()


class BulkArchive(ArtifactSelection):
    """The artifacts to archive or, with `archived: false`, to unarchive."""

    archived = Bool(load_default=True)


class UpdateArtifact(Schema):
    """The properties to change. Omitted properties are kept. `metadata` is replaced as a whole."""

    name = DocumentName()
    schema_id = Uuid(allow_none=True)
    external_id = Str(max_length=255, allow_none=True)
    metadata = Metadata(metadata=METADATA_SCHEMA)
    priority = Int(maximum=100)
    due_at = UtcDateTime(allow_none=True)
    gold = Bool()
    archived = Bool()
    revision = Int()


class PageImageQuery(Schema):
    """The width in pixels and the format of a page image."""

    width = QueryInt(minimum=64, maximum=4000, load_default=1200)
    format = Str(validate=OneOf(IMAGE_FORMATS), load_default="png")


class ArtifactFailure(Response):
    """The reason why the content could not be read."""

    code = Str()
    message = Str()


class ArtifactClaim(Response):
    """The user who has claimed the artifact, and the time at which the claim expires."""

    user_id = Uuid()
    expires_at = UtcDateTime()


class ArtifactPredictionError(Response):
    """The reason why the prediction failed."""

    code = Str()
    message = Str()


class ArtifactPrediction(Response):
    """The latest prediction of the artifact's tags, with its status."""

    id = Uuid()
    status = Str(validate=OneOf(("queued", "completed", "failed")))
    model_version = Str(
        allow_none=True,
        description="The version of the model. Null until the prediction is completed.",
    )
    error = Nested(ArtifactPredictionError, allow_none=True)


class ArtifactAssignee(Response):
    """A user or a team that the artifact is assigned to."""

    user_id = Uuid(allow_none=True)
    team_id = Uuid(allow_none=True)


class ArtifactTagSetCounts(Response):
    """The number of tag sets by status."""

    draft = Int()
    submitted = Int()
    accepted = Int()
    rejected = Int()


class Artifact(Response):
    """An artifact: the record of a document, with its status, assignees and claim."""

    min_roles: ClassVar = {"gold": Role.reviewer}

    id = Uuid()
    name = Str()
    schema_id = Uuid(allow_none=True)
    external_id = Str(allow_none=True)
    metadata = JsonObject(metadata=METADATA_SCHEMA)
    priority = Int(description="0 to 100; the highest is labeled first unless a due time is near.")
    due_at = UtcDateTime(allow_none=True)
    gold = Bool(
        allow_none=True,
        description="Whether the correct labels are known. Null for roles below reviewer.",
    )
    archived = Bool()
    media_type = Str()
    size_bytes = Int()
    sha256 = Str()
    page_count = Int(allow_none=True)
    language = Str(allow_none=True)
    text_length = Int(description="The length of the text in code points.")
    has_text_layer = Bool(allow_none=True, metadata=TEXT_LAYER_METADATA)
    ocr = Str(validate=OneOf(tuple(OcrStatus)), metadata=_OCR_METADATA)
    status = Str(validate=OneOf(tuple(ArtifactStatus)))
    failure = Nested(ArtifactFailure, allow_none=True)
    connector_id = Uuid(allow_none=True)
    ingestion_job_id = Uuid(allow_none=True)
    parent_id = Uuid(
        allow_none=True,
        description="The id of the first email or mbox file that contained the artifact.",
    )
    attachment_count = Int(allow_none=True, metadata=_ATTACHMENT_COUNT_METADATA)
    prediction = Nested(ArtifactPrediction, allow_none=True)
    assignees = List(Nested(ArtifactAssignee))
    claim = Nested(ArtifactClaim, allow_none=True)
    label_counts = Nested(ArtifactTagSetCounts, description="The number of tag sets by status.")
    created_by = Uuid(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
    revision = Int()


class ArtifactSummary(Artifact):
    """An artifact in a list; `metadata` is null if it is too large for the page."""

    metadata = JsonObject(metadata=METADATA_SCHEMA, allow_none=True)
