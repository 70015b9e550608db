"""Open the source of a connector, over the guarded client for outbound connections."""

import socket
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import requests

from app.engines.sources import TYPES, Source, SourceError, SourceErrorKind
from app.intake.connectors.models import Connector
from app.intake.connectors.service.settings_rules import decrypt_secrets
from app.kit import container
from app.kit.egress import Egress, EgressRefused
from app.kit.secrets import DecryptionFailed


class Target(NamedTuple):
    """What is needed to open a source; it can be used after the transaction, and by any thread."""

    type: str
    settings: dict[str, Any]
    local_root: Path | None


class GuardedNetwork:
    """The network of sources: it connects only to hosts that the operator allows."""

    def __init__(self, egress: Egress) -> None:
        self._egress = egress

    def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        """Return a connected TCP socket. Raises OSError, SourceError."""
        try:
            return self._egress.connect(host, port, timeout=timeout)
        except EgressRefused as refusal:
            message = f"The host is not allowed: {refusal.reason}."
            raise SourceError(SourceErrorKind.NOT_ALLOWED, message) from None

    def session(self, *, deadline: float, max_response_bytes: int) -> requests.Session:
        """Return a session for HTTP."""
        return self._egress.session(deadline=deadline, max_response_bytes=max_response_bytes)


def read_target(connector: Connector) -> Target:
    """Return what is needed to open the source of a connector.

    Raises SourceError if no key decrypts its credentials.
    """
    try:
        secrets = decrypt_secrets(connector.credentials)
    except DecryptionFailed:
        message = "The stored credentials cannot be decrypted. Send them again."
        raise SourceError(SourceErrorKind.CREDENTIALS_REFUSED, message) from None
    return Target(
        connector.type,
        {**connector.settings, **secrets},
        _find_local_root(connector.organization_id),
    )


def open_source(target: Target) -> Source:
    """Open a source. Raises SourceError."""
    network = GuardedNetwork(container.current().connector_egress)
    return TYPES[target.type].open(target.settings, network, target.local_root)


def _find_local_root(organization_id: UUID) -> Path | None:
    """Return the folder of an organization: each has its own below the operator's folder."""
    root = container.settings().connector_local_root
    return Path(root) / str(organization_id) if root else None
