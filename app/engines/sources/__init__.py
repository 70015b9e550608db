"""Read documents from folders, object stores, file servers, web servers and mailboxes."""

from app.engines.sources.model import (
    ListingPosition,
    Network,
    ObjectMissing,
    PathFilter,
    Source,
    SourceEntry,
    SourceError,
    SourceErrorKind,
    SourceObject,
    SourceType,
)
from app.engines.sources.registry import TYPES

__all__ = [
    "TYPES",
    "ListingPosition",
    "Network",
    "ObjectMissing",
    "PathFilter",
    "Source",
    "SourceEntry",
    "SourceError",
    "SourceErrorKind",
    "SourceObject",
    "SourceType",
]
