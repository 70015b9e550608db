"""Import schemas from files of other tools, or of other installations of this service.

A reader takes text or JSON, and returns the fields and properties of a schema. Content that a
schema cannot represent is dropped, and causes a warning with the location of the content in the
source. References to other resources are never fetched.
"""

from collections.abc import Callable, Mapping

from app.engines.schema_sources.json_schema.reader import read_json_schema
from app.engines.schema_sources.label_studio.reader import read_label_studio
from app.engines.schema_sources.model import SourceSchema
from app.engines.schema_sources.portable import read_portable_file

FORMATS: Mapping[str, Callable[[object], SourceSchema]] = {
    "json_schema": read_json_schema,
    "portable": read_portable_file,
    "label_studio": read_label_studio,
}
"""The functions that read a schema, by format.

The content is a JSON value, JSON text or XML text, depending on the format. The functions raise
SchemaSourceError if the content cannot be imported.
"""
