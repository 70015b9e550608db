"""Read documents from folders, object stores, file servers, web servers and mailboxes."""

from app.engines.sources.model import (
    HostError,
    HostErrorKind,
    ListingPosition,
    Network,
    ObjectMissing,
    PathFilter,
    Source,
    SourceEntry,
    SourceObject,
    SourceType,
)
from app.engines.sources.registry import TYPES

__all__ = [
    "TYPES",
    "HostError",
    "HostErrorKind",
    "ListingPosition",
    "Network",
    "ObjectMissing",
    "PathFilter",
    "Source",
    "SourceEntry",
    "SourceObject",
    "SourceType",
]
