"""Import JSON Schemas, drafts 4 to 2020-12."""

from app.engines.schema_sources.json_schema.reader import read_json_schema

__all__ = ["read_json_schema"]
