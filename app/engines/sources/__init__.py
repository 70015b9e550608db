"""Sources of documents: folders, object stores, file servers, web pages and mailboxes."""

from app.engines.sources.model import (
    Entry,
    Network,
    ObjectMissing,
    Source,
    SourceError,
    SourceErrorKind,
    SourceObject,
    SourceType,
)
from app.engines.sources.registry import TYPES

__all__ = [
    "TYPES",
    "Entry",
    "Network",
    "ObjectMissing",
    "Source",
    "SourceError",
    "SourceErrorKind",
    "SourceObject",
    "SourceType",
]
