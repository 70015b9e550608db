"""Request schemas for bulk imports."""

from app.documents.artifacts.names import MAX_NAME_LENGTH
from app.engines.imports import FORMATS, READERS
from app.intake.bulk_import.service.labels import LabelsAs
from app.kit.api.fields import MAX_FORM_BYTES, Name, OneOf, Schema, Str, UploadSchema, Uuid

MAX_CONTENT_LENGTH = 4_000_000
_FORMAT_TEXT = "The format of the file. By default, it is detected from the content."
_SCHEMA_TEXT = "The schema for documents of records without a `schema_id`."


class ImportRecords(Schema):
    """The request body for an import without an upload: it contains the content of the file."""

    content = Str(required=True, max_length=MAX_CONTENT_LENGTH)
    name = Name(max_length=MAX_NAME_LENGTH, load_default=None, description="The name of the file.")
    format_id = Str(
        data_key="format",
        validate=OneOf(tuple(READERS)),
        load_default=None,
        description=_FORMAT_TEXT,
    )
    schema_id = Uuid(load_default=None, description=_SCHEMA_TEXT)
    labels_as = Str(
        data_key="labels",
        validate=OneOf(tuple(LabelsAs)),
        load_default=LabelsAs.SUBMITTED,
        description="How to import labels. `submitted`: as tag sets that are submitted for review."
        " `accepted`: as accepted tag sets; only for reviewers. `ignored`: not at all.",
    )


class UploadRecords(ImportRecords, UploadSchema):
    """The form that uploads a file to import, or sends the file's content as text."""

    instead_of_file = ("content",)

    content = Str(
        load_default=None,
        max_length=MAX_FORM_BYTES,
        description="The content of the file as text, if no file is uploaded. Send longer content"
        " as a file or in a JSON body.",
    )
    format_id = Str(
        data_key="format", validate=OneOf(FORMATS), load_default=None, description=_FORMAT_TEXT
    )
