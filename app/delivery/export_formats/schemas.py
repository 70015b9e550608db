"""Response schemas for export formats."""

from app.engines.formats.model import TAG_SET_PARTS
from app.kit.api.fields import JsonObject, List, OneOf, Response, Str

_KEEPS_TEXT = "The parts of a tag set that a file in this format preserves."


class ExportFormat(Response):
    """A file format for exports."""

    id = Str()
    name = Str()
    description = Str()
    media_type = Str()
    extension = Str()
    keeps = List(Str(validate=OneOf(TAG_SET_PARTS)), description=_KEEPS_TEXT)
    options_schema = JsonObject(description="JSON Schema of the options, with their defaults.")


class ExportFormatDetail(ExportFormat):
    """An export format with a sample file."""

    sample = Str(description="A sample file with one fictitious tag set.")
