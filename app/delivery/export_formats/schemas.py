"""Response schemas of export formats."""

from app.engines.formats import KEEPS
from app.kit.api.fields import JsonObject, List, OneOf, Schema, Str

_KEEPS = "The parts of a tag set that the file keeps."


class ExportFormat(Schema):
    """A file format of exports."""

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
    """A file format of exports with a sample file."""

    sample = Str(required=True, metadata={"description": "A file with one invented tag set."})
