"""Request and response schemas of artifacts."""

from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import ValidationError, fields

from app.documents.artifacts.member_rules import (
    MAX_KEY_LENGTH,
    MAX_KEYS,
    MAX_TEXT,
    MAX_VALUE_LENGTH,
    InexactNumberError,
    check_metadata,
)
from app.documents.artifacts.names import MAX_NAME, NAME_PATTERN, check_name
from app.documents.artifacts.schemas.predictions import ArtifactPrediction
from app.documents.artifacts.statuses import ArtifactStatus, OcrStatus
from app.kit import errors
from app.kit.api import strict_json
from app.kit.api.fields import (
    FORM_BYTES,
    Bool,
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
    check_text,
)
from app.kit.api.strict_json import MAX_SAFE_INT
from app.kit.permissions import Role

TEXT_LAYER = {
    "description": "False when no page has text that can be selected, as in scans and photographs;"
    " null until the document is read."
}
_OCR = {
    "description": "The status of text recognition on scanned pages. `none`: no page needs it;"
    " `pending`: the artifact is processing until text recognition is done; `off`: the operator has"
    " turned text recognition off; `failed`: at least one page could not be recognized."
}
_ATTACHMENT_COUNT = {
    "description": "The number of attachments and forwarded messages in an email, or of emails in a"
    " mailbox, without small pictures in the text. Null until the file is read, and for other"
    " documents. Fewer artifacts have this `parent_id` if an attachment cannot be read, or has the"
    " same content as another artifact."
}
IMAGE_FORMATS = ("png", "jpeg", "webp")
_METADATA = {
    "description": "An object of strings, numbers and booleans;"
    f" keys have 1 to {MAX_KEY_LENGTH} characters.",
    "maxProperties": MAX_KEYS,
    "additionalProperties": {
        "type": ["string", "number", "boolean"],
        "maxLength": MAX_VALUE_LENGTH,
        "minimum": -MAX_SAFE_INT,
        "maximum": MAX_SAFE_INT,
    },
    "propertyNames": {"minLength": 1, "maxLength": MAX_KEY_LENGTH},
}
_METADATA_TEXT = {
    **_METADATA,
    "type": "object",
    "description": "The JSON text of an object of strings, numbers and booleans;"
    f" keys have 1 to {MAX_KEY_LENGTH} characters.",
}


class DocumentName(Str):
    """A document name, validated by `names.check_name`."""

    def __init__(self, **kwargs: Any) -> None:
        metadata = {"pattern": NAME_PATTERN, **kwargs.pop("metadata", {})}
        super().__init__(min_length=1, max_length=MAX_NAME, metadata=metadata, **kwargs)

    def _deserialize(
        self,
        value: object,
        attr: str | None,
        data: Mapping[str, object] | None,
        **kwargs: object,
    ) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            return check_name(text)
        except ValueError as error:
            raise ValidationError(str(error)) from None


def _check_metadata(value: dict[Any, Any]) -> dict[str, Any]:
    for text in (*value, *value.values()):
        if isinstance(text, str):
            check_text(text)
    try:
        return check_metadata(value)
    except InexactNumberError as error:
        raise errors.invalid(str(error), f"metadata.{error.key}") from None
    except ValueError as error:
        raise ValidationError(str(error)) from None


class Metadata(JsonObject):
    """An object of strings, numbers and booleans."""

    def _deserialize(self, value: object, *_: object, **__: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.make_error("invalid")
        return _check_metadata(value)


class MetadataText(fields.String):
    """Metadata as the JSON text of a form field."""

    def _deserialize(
        self,
        value: object,
        attr: str | None,
        data: Mapping[str, object] | None,
        **kwargs: object,
    ) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            parsed = strict_json.parse(text, self.name)
        except (strict_json.Malformed, strict_json.NestedTooDeeplyError):
            parsed = None
        if not isinstance(parsed, dict):
            raise ValidationError("Must be the text of a JSON object.")
        return _check_metadata(parsed)


class CreateArtifact(Schema):
    """An artifact to create from text."""

    name = DocumentName(required=True)
    text = Str(required=True, max_length=MAX_TEXT)
    schema_id = Uuid(allow_none=True, load_default=None)
    external_id = Str(max_length=255, allow_none=True, load_default=None)
    metadata = Metadata(load_default=dict, metadata=_METADATA)
    priority = Int(maximum=100, load_default=50)
    due_at = UtcDateTime(allow_none=True, load_default=None)
    gold = Bool(load_default=False)
    archived = Bool(load_default=False)


class UploadArtifact(UploadSchema):
    """A file, or a text with a name. A file without a `name` keeps its own name."""

    instead_of_file = ("text", "name")

    text = Str(
        load_default=None,
        max_length=FORM_BYTES,
        metadata={
            "description": "Used instead of a file. Send a longer text as a file or as JSON."
        },
    )
    name = DocumentName(load_default=None)
    schema_id = Uuid(load_default=None)
    external_id = Str(max_length=255, load_default=None)
    metadata = MetadataText(load_default=dict, metadata=_METADATA_TEXT)
    priority = QueryInt(maximum=100, load_default=50)
    due_at = UtcDateTime(load_default=None)
    gold = QueryBool(load_default=False)
    archived = QueryBool(load_default=False)


class ArtifactFilters(Schema):
    """Filters of the list of artifacts. Archived artifacts are excluded by default."""

    status = List(Str(validate=OneOf(tuple(ArtifactStatus))), description="Any of these statuses.")
    schema_id = Uuid()
    media_type = Str(max_length=200)
    language = Str(max_length=35)
    ocr = Str(validate=OneOf(tuple(OcrStatus)), description="The status of text recognition.")
    external_id = Str(max_length=255)
    parent_id = Uuid(description="Only artifacts attached to this email or mailbox.")
    gold = QueryBool(description="For reviewers only.")
    archived = Str(validate=OneOf(["true", "false", "any"]), load_default="false")
    assignee = Uuid(description="The id of a user or a team.")
    assigned = QueryBool(description="Whether the artifact is assigned to a user or a team.")
    due_after = UtcDateTime(description="Only artifacts due at or after this time.")
    due_before = UtcDateTime(description="Only artifacts due before this time.")
    created_after = UtcDateTime()
    created_before = UtcDateTime()
    q = Str(
        min_length=1,
        max_length=500,
        description=(
            "Words to find in name, metadata and text, in any inflected form of the"
            ' document\'s language. Supports "exact phrase", or, -not.'
        ),
    )


class UpdateArtifact(Schema):
    """Properties to change. Omitted properties are kept. `metadata` is replaced as a whole."""

    name = DocumentName()
    schema_id = Uuid(allow_none=True)
    external_id = Str(max_length=255, allow_none=True)
    metadata = Metadata(metadata=_METADATA)
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
    """The user who has claimed the artifact, and when the claim expires."""

    user_id = Uuid()
    expires_at = UtcDateTime()


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
    """An artifact, the record of a document."""

    least_roles: ClassVar = {"gold": Role.reviewer}

    id = Uuid()
    name = Str()
    schema_id = Uuid(allow_none=True)
    external_id = Str(allow_none=True)
    metadata = JsonObject(metadata=_METADATA)
    priority = Int()
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
    has_text_layer = Bool(allow_none=True, metadata=TEXT_LAYER)
    ocr = Str(validate=OneOf(tuple(OcrStatus)), metadata=_OCR)
    status = Str(validate=OneOf(tuple(ArtifactStatus)))
    failure = Nested(ArtifactFailure, allow_none=True)
    connector_id = Uuid(allow_none=True)
    ingestion_job_id = Uuid(allow_none=True)
    parent_id = Uuid(
        allow_none=True, description="The email or mailbox to which the document was attached."
    )
    attachment_count = Int(allow_none=True, metadata=_ATTACHMENT_COUNT)
    prediction = Nested(ArtifactPrediction, allow_none=True)
    assignees = List(Nested(ArtifactAssignee))
    claim = Nested(ArtifactClaim, allow_none=True)
    label_counts = Nested(ArtifactTagSetCounts)
    created_by = Uuid(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
    revision = Int()
