"""Read a schema from any of the supported formats."""

from collections.abc import Callable, Mapping

from app.engines.schema_sources.json_schema import read_json_schema
from app.engines.schema_sources.label_studio import read_label_studio
from app.engines.schema_sources.model import SourceSchema
from app.engines.schema_sources.portable import read_portable

FORMATS: Mapping[str, Callable[[object], SourceSchema]] = {
    "json_schema": read_json_schema,
    "portable": read_portable,
    "label_studio": read_label_studio,
}


def read_schema(format_: str, content: object) -> SourceSchema:
    """Read a schema in one of the `FORMATS`.

    `content` is a JSON value, JSON text or XML text, depending on the format. Raises
    SchemaSourceError if the content cannot be imported.
    """
    return FORMATS[format_](content)
