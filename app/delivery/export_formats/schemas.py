"""Answers of export formats."""

from app.engines.formats import KEEPS
from app.kit.api.fields import JsonObject, List, OneOf, Schema, Str

_KEEPS = "What of a label set survives in the file."


class ExportFormat(Schema):
    """A format that exports can be written in."""

    id = Str(required=True)
    name = Str(required=True)
    description = Str(required=True)
    media_type = Str(required=True)
    extension = Str(required=True)
    keeps = List(Str(validate=OneOf(KEEPS)), required=True, metadata={"description": _KEEPS})
    options_schema = JsonObject(
        required=True, metadata={"description": "JSON Schema of the options, with their defaults."}
    )


class ExportFormatDetail(ExportFormat):
    """A format with an example of it."""

    sample = Str(required=True, metadata={"description": "A file of one made-up label set."})
