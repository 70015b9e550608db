"""Destinations for finished files: object stores, file servers and web servers."""

from app.engines.destinations.model import (
    Destination,
    DestinationError,
    DestinationErrorKind,
    DestinationType,
    OutgoingFile,
)
from app.engines.destinations.registry import TYPES

__all__ = [
    "TYPES",
    "Destination",
    "DestinationError",
    "DestinationErrorKind",
    "DestinationType",
    "OutgoingFile",
]
