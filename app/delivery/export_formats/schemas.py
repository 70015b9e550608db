"""Response schemas of export formats."""

from app.engines.formats import KEEPS
from app.kit.api.fields import JsonObject, List, OneOf, Response, Str

_KEEPS = "The parts of a tag set that the file keeps."


class ExportFormat(Response):
    """A file format for exports."""

    id = Str()
    name = Str()
    description = Str()
    media_type = Str()
    extension = Str()
    keeps = List(Str(validate=OneOf(KEEPS)), description=_KEEPS)
    options_schema = JsonObject(description="JSON Schema of the options, with their defaults.")


class ExportFormatDetail(ExportFormat):
    """An export format with a sample file."""

    sample = Str(description="A sample file with one fictitious tag set.")
