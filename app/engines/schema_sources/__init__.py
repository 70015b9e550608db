"""Import schemas from files of other tools.

All functions are pure: they take text or JSON and return fields. Content that a schema cannot
represent is dropped, and causes a warning with its location in the source. References to other
resources are never fetched.
"""

from app.engines.schema_sources.model import SchemaSourceError, SourceSchema, SourceWarning
from app.engines.schema_sources.reading import FORMATS, read_schema

__all__ = ["FORMATS", "SchemaSourceError", "SourceSchema", "SourceWarning", "read_schema"]
