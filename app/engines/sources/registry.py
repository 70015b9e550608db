"""Define the source types. The libraries of a type are imported when a source is opened."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from app.engines.sources import local, settings
from app.engines.sources.model import HostType, Network, OpenerT, SourceType
from app.engines.sources.private_keys import find_key_problem


def build_type(
    name: str, title: str, schema: Mapping[str, Any], opener: OpenerT
) -> HostType[OpenerT]:
    """Build a type of source or destination, whose settings match `schema`."""
    secrets = (name for name, rules in schema["properties"].items() if rules.get("writeOnly"))
    return HostType(name, title, schema, frozenset(secrets), opener, find_key_problem)


def build_opener(module: str, function: str) -> Callable[..., Any]:
    """Build a function that opens a source or destination of one type.

    That function imports `module`, and passes the settings and the network to the module's
    `function`. It ignores all further arguments.
    """

    def open_host(settings: Mapping[str, Any], network: Network, *_: object) -> Any:
        # The libraries for SSH and S3 take several megabytes, and most processes never need them.
        return getattr(importlib.import_module(module), function)(settings, network)

    return open_host


def _build_source_opener(module: str) -> Callable[..., Any]:
    return build_opener(f"{__package__}.{module}", "open_source")


_TYPES: Sequence[SourceType] = (
    build_type("local", "Local folder", settings.LOCAL, local.open_source),
    build_type("s3", "S3 and compatible", settings.S3, _build_source_opener("s3")),
    build_type("gcs", "Google Cloud Storage", settings.GCS, _build_source_opener("gcs")),
    build_type("azure", "Azure Blob Storage", settings.AZURE, _build_source_opener("azure")),
    build_type("http", "Web server", settings.HTTP, _build_source_opener("web")),
    build_type("sftp", "SFTP", settings.SFTP, _build_source_opener("sftp")),
    build_type("ftp", "FTP", settings.FTP, _build_source_opener("ftp")),
    build_type("imap", "Mailbox (IMAP)", settings.IMAP, _build_source_opener("imap")),
)
TYPES: Mapping[str, SourceType] = MappingProxyType({type_.name: type_ for type_ in _TYPES})
"""The source types by name."""
