"""Request schemas of bulk import."""

from app.documents.artifacts.names import MAX_NAME
from app.engines.imports import FORMATS, READERS
from app.intake.bulk_import.service import LabelsAs
from app.kit.api.fields import FORM_BYTES, Name, OneOf, Schema, Str, UploadSchema, Uuid

MAX_CONTENT = 4_000_000
_FORMAT = "The format of the file. By default, it is detected from the content."
_SCHEMA = "The schema for documents without a `schema_id`."
_LABELS = (
    "Whether labels become tag sets that are `submitted` for review, become `accepted` tag sets"
    " (only for reviewers), or are `ignored`."
)


def _build_labels_field() -> Str:
    return Str(
        data_key="labels",
        validate=OneOf(tuple(LabelsAs)),
        load_default=LabelsAs.SUBMITTED,
        description=_LABELS,
    )


class ImportRecords(Schema):
    """The content of a small file, to import without an upload."""

    content = Str(required=True, max_length=MAX_CONTENT)
    name = Name(max_length=MAX_NAME, load_default=None, description="The name of the file.")
    format_id = Str(
        data_key="format", validate=OneOf(tuple(READERS)), load_default=None, description=_FORMAT
    )
    schema_id = Uuid(load_default=None, description=_SCHEMA)
    labels_as = _build_labels_field()


class UploadRecords(UploadSchema):
    """A file to import, or its content as text."""

    instead_of_file = ("content",)

    content = Str(
        load_default=None,
        max_length=FORM_BYTES,
        description="The content of the file, instead of a file. Send longer content as a file or"
        " in a JSON body.",
    )
    name = Name(max_length=MAX_NAME, load_default=None, description="The name of the file.")
    format_id = Str(
        data_key="format", validate=OneOf(FORMATS), load_default=None, description=_FORMAT
    )
    schema_id = Uuid(load_default=None, description=_SCHEMA)
    labels_as = _build_labels_field()
