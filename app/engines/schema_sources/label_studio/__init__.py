"""Import labeling configurations of Label Studio: a tree of XML tags."""

from app.engines.schema_sources.label_studio.reader import read_label_studio

__all__ = ["read_label_studio"]
