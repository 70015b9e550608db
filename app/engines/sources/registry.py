"""Define the source types. The libraries of a type are imported when a source is opened."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from app.engines.sources import settings
from app.engines.sources.model import Network, Source, SourceOpener, SourceType
from app.engines.sources.ssh_keys import find_key_problem


def _build_type(name: str, title: str, module: str, schema: Mapping[str, Any]) -> SourceType:
    secrets = (name for name, rules in schema["properties"].items() if rules.get("writeOnly"))
    return SourceType(
        name, title, schema, frozenset(secrets), _build_opener(module), find_key_problem
    )


def _build_opener(module: str) -> SourceOpener:
    def open_source(
        settings: Mapping[str, Any], network: Network, local_root: Path | None
    ) -> Source:
        # The libraries for SSH and S3 take several megabytes, and most processes never need them.
        opener: SourceOpener = importlib.import_module(module).open_source
        return opener(settings, network, local_root)

    return open_source


_PACKAGE = "app.engines.sources"
TYPES: Mapping[str, SourceType] = MappingProxyType(
    {
        source_type.name: source_type
        for source_type in (
            _build_type("local", "Local folder", f"{_PACKAGE}.local", settings.LOCAL),
            _build_type("s3", "S3 and compatible", f"{_PACKAGE}.s3", settings.S3),
            _build_type("gcs", "Google Cloud Storage", f"{_PACKAGE}.gcs", settings.GCS),
            _build_type("azure", "Azure Blob Storage", f"{_PACKAGE}.azure", settings.AZURE),
            _build_type("http", "Web server", f"{_PACKAGE}.web", settings.HTTP),
            _build_type("sftp", "SFTP", f"{_PACKAGE}.sftp", settings.SFTP),
            _build_type("ftp", "FTP", f"{_PACKAGE}.ftp", settings.FTP),
            _build_type("imap", "Mailbox (IMAP)", f"{_PACKAGE}.imap", settings.IMAP),
        )
    }
)
"""The source types by name."""
