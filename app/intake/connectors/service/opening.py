"""Opening of a connector's source, over the guarded client for outbound connections."""

from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from app.engines.sources import TYPES, Source, SourceError, SourceErrorKind
from app.intake.connectors.models import Connector
from app.kit import container
from app.kit.egress import GuardedNetwork
from app.kit.secrets import DecryptionFailed
from app.kit.typed_settings import decrypt_secrets


class Target(NamedTuple):
    """The data to open a source. It can be used after the transaction and in any thread."""

    type: str
    settings: dict[str, Any]
    local_root: Path | None


def read_target(connector: Connector) -> Target:
    """Return the data to open the source of a connector.

    Raises SourceError if its credentials cannot be decrypted.
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
    network = GuardedNetwork(container.current().connector_egress, _describe_refusal)
    return TYPES[target.type].open(target.settings, network, target.local_root)


def _describe_refusal(reason: str) -> SourceError:
    return SourceError(SourceErrorKind.NOT_ALLOWED, f"The host is not allowed: {reason}.")


def _find_local_root(organization_id: UUID) -> Path | None:
    """Return the organization's folder in the operator's folder, or None if none is configured."""
    root = container.settings().connector_local_root
    return Path(root) / str(organization_id) if root else None
