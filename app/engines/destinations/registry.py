"""The registry of destination types. Libraries are imported when a destination is opened."""

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from app.engines.destinations import settings
from app.engines.destinations.model import Destination, DestinationOpener, DestinationType
from app.engines.sources.model import Network
from app.engines.sources.registry import build_type


def _build_opener(module: str) -> DestinationOpener:
    def open_destination(settings: Mapping[str, Any], network: Network) -> Destination:
        # The libraries for SSH and S3 use several megabytes of memory in each process.
        opener: DestinationOpener = importlib.import_module(module).open_destination
        return opener(settings, network)

    return open_destination


TYPES: Mapping[str, DestinationType] = MappingProxyType(
    {
        destination_type.name: destination_type
        for destination_type in (
            build_type("s3", "S3 and compatible", settings.S3, _build_opener(f"{__package__}.s3")),
            build_type("sftp", "SFTP", settings.SFTP, _build_opener(f"{__package__}.sftp")),
            build_type("http", "Web server", settings.HTTP, _build_opener(f"{__package__}.web")),
        )
    }
)
"""The destination types by name."""
