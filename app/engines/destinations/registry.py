"""Register the destination types. A type's module is imported when a destination is opened."""

from collections.abc import Mapping
from types import MappingProxyType

from app.engines.destinations import settings
from app.engines.destinations.model import DestinationType
from app.engines.sources.registry import build_opener, build_type

TYPES: Mapping[str, DestinationType] = MappingProxyType(
    {
        name: build_type(name, title, schema, build_opener(module, "open_destination"))
        for name, title, schema, module in (
            ("s3", "S3 and compatible", settings.S3, f"{__package__}.s3"),
            ("sftp", "SFTP", settings.SFTP, f"{__package__}.sftp"),
            ("http", "Web server", settings.HTTP, f"{__package__}.web"),
        )
    }
)
"""The destination types by name."""
