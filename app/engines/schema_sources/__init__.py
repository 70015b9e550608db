"""Where a schema may come from: files of other tools, read into fields. Pure: text or JSON in.

What a source says and a schema cannot hold is never dropped in silence: it becomes a warning with
the place where it stood. Nothing that a source refers to is ever fetched.
"""

from app.engines.schema_sources.model import SourceError, SourceSchema, SourceWarning
from app.engines.schema_sources.reading import FORMATS, read

__all__ = ["FORMATS", "SourceError", "SourceSchema", "SourceWarning", "read"]
