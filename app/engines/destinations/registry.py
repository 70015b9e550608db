"""The registry of destination types. Libraries are imported when a destination is opened."""

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from app.engines.destinations import settings
from app.engines.destinations.model import Destination, DestinationOpener, DestinationType
from app.engines.sources import Network
from app.engines.sources.ssh_keys import find_key_problem


def _build_type(name: str, title: str, module: str, schema: Mapping[str, Any]) -> DestinationType:
    secrets = (name for name, rules in schema["properties"].items() if rules.get("writeOnly"))
    return DestinationType(
        name, title, schema, frozenset(secrets), _build_opener(module), find_key_problem
    )


def _build_opener(module: str) -> DestinationOpener:
    def open_destination(settings: Mapping[str, Any], network: Network) -> Destination:
        # The libraries for SSH and S3 use several megabytes of memory in each process.
        opener: DestinationOpener = importlib.import_module(module).open_destination
        return opener(settings, network)

    return open_destination


_PACKAGE = "app.engines.destinations"
TYPES: Mapping[str, DestinationType] = MappingProxyType(
    {
        destination_type.name: destination_type
        for destination_type in (
            _build_type("s3", "S3 and compatible", f"{_PACKAGE}.s3", settings.S3),
            _build_type("sftp", "SFTP", f"{_PACKAGE}.sftp", settings.SFTP),
            _build_type("http", "Web server", f"{_PACKAGE}.web", settings.HTTP),
        )
    }
)
"""The destination types by name."""
