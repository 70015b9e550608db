"""Destinations for finished files: object stores, file servers and web servers."""

from app.engines.destinations.model import Destination, DestinationType, OutgoingFile
from app.engines.destinations.registry import TYPES
from app.engines.sources.model import HostError, HostErrorKind

__all__ = ["TYPES", "Destination", "DestinationType", "HostError", "HostErrorKind", "OutgoingFile"]
