"""Open a connector's source through the guarded network, which restricts outbound connections."""

from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from app.engines.sources.model import HostError, HostErrorKind, Network, Source
from app.engines.sources.registry import TYPES
from app.intake.connectors.models import Connector
from app.kit import container
from app.kit.egress import ExpiringNetwork, GuardedNetwork
from app.kit.secrets import DecryptionFailed
from app.kit.typed_settings import decrypt_secrets


class SourceTarget(NamedTuple):
    """The data needed to open a source, in any thread and without a database transaction."""

    type: str
    settings: dict[str, Any]
    local_root: Path | None


def read_target(connector: Connector) -> SourceTarget:
    """Read the target of a connector: the data needed to open its source.

    Raises HostError if the connector's secrets cannot be decrypted.
    """
    try:
        secrets = decrypt_secrets(connector.credentials)
    except DecryptionFailed:
        message = "The stored credentials cannot be decrypted. Send them again."
        raise HostError(HostErrorKind.CREDENTIALS_REFUSED, message) from None
    return SourceTarget(
        connector.type,
        {**connector.settings, **secrets},
        _find_local_root(connector.organization_id),
    )


def open_source(target: SourceTarget, network: Network | None = None) -> Source:
    """Open a connection to a source, with its settings and secrets.

    If `network` is None, the source uses the guarded network, without a time limit. Raises
    HostError if the connection cannot be opened.
    """
    if network is None:
        network = GuardedNetwork(container.current().connector_egress, _build_refusal_error)
    return TYPES[target.type].open(target.settings, network, target.local_root)


def build_expiring_network(seconds: float) -> ExpiringNetwork:
    """Build a guarded network for one source; its connections end after `seconds` seconds."""
    egress = container.current().connector_egress
    return ExpiringNetwork(egress, _build_refusal_error, seconds)


def _build_refusal_error(reason: str) -> HostError:
    return HostError(HostErrorKind.NOT_ALLOWED, f"Cannot connect to the host: {reason}.")


def _find_local_root(organization_id: UUID) -> Path | None:
    """Return an organization's folder for local sources, or None if the operator set no folder."""
    root = container.settings().connector_local_root
    return Path(root) / str(organization_id) if root else None
