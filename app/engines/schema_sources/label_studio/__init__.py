"""Import labeling configurations from Label Studio, which are trees of XML tags."""

from app.engines.schema_sources.label_studio.reader import read_label_studio

__all__ = ["read_label_studio"]
