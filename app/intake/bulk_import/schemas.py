"""Request schemas of bulk import."""

from app.documents.artifacts.names import MAX_NAME
from app.engines.imports import FORMATS, READERS
from app.intake.bulk_import.service import LabelsAs
from app.kit.api.fields import FORM_BYTES, Name, OneOf, Schema, Str, UploadSchema, Uuid

MAX_CONTENT = 4_000_000
_FORMAT = "By default, the format is recognized by the content."
_SCHEMA = "The schema of documents that name none."
_LABELS = "What labels become: tag sets that are submitted for review, or accepted (for reviewers)."


def _build_labels() -> Str:
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
    labels_as = _build_labels()


class UploadRecords(UploadSchema):
    """A file to import, or its content as a text."""

    instead_of_file = ("content",)

    content = Str(
        load_default=None,
        max_length=FORM_BYTES,
        description="Used instead of a file. Send a longer content as a file or as JSON.",
    )
    name = Name(max_length=MAX_NAME, load_default=None, description="The name of the file.")
    format_id = Str(
        data_key="format", validate=OneOf(FORMATS), load_default=None, description=_FORMAT
    )
    schema_id = Uuid(load_default=None, description=_SCHEMA)
    labels_as = _build_labels()
