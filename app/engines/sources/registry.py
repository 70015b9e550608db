"""Define the source types. The libraries of a type are imported when a source is opened."""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from app.engines.sources import local, settings
from app.engines.sources.model import (
    HostType,
    Network,
    OpenerT,
    RemoteOpener,
    Source,
    SourceOpener,
    SourceType,
)
from app.engines.sources.private_keys import find_key_problem


def build_type(
    name: str, title: str, schema: Mapping[str, Any], opener: OpenerT
) -> HostType[OpenerT]:
    """Build a type of source or destination, whose settings match `schema`."""
    secrets = (name for name, rules in schema["properties"].items() if rules.get("writeOnly"))
    return HostType(name, title, schema, frozenset(secrets), opener, find_key_problem)


def _build_opener(module: str) -> SourceOpener:
    def open_source(
        settings: Mapping[str, Any], network: Network, local_root: Path | None
    ) -> Source:
        del local_root
        # The libraries for SSH and S3 take several megabytes, and most processes never need them.
        opener: RemoteOpener = importlib.import_module(f"{__package__}.{module}").open_source
        return opener(settings, network)

    return open_source


_TYPES: Sequence[SourceType] = (
    build_type("local", "Local folder", settings.LOCAL, local.open_source),
    build_type("s3", "S3 and compatible", settings.S3, _build_opener("s3")),
    build_type("gcs", "Google Cloud Storage", settings.GCS, _build_opener("gcs")),
    build_type("azure", "Azure Blob Storage", settings.AZURE, _build_opener("azure")),
    build_type("http", "Web server", settings.HTTP, _build_opener("web")),
    build_type("sftp", "SFTP", settings.SFTP, _build_opener("sftp")),
    build_type("ftp", "FTP", settings.FTP, _build_opener("ftp")),
    build_type("imap", "Mailbox (IMAP)", settings.IMAP, _build_opener("imap")),
)
TYPES: Mapping[str, SourceType] = MappingProxyType({type_.name: type_ for type_ in _TYPES})
"""The source types by name."""
