"""Routes for connectors and their alerts."""

from typing import Any
from uuid import UUID

from app.intake.connectors import models, schemas
from app.intake.connectors.service import alerts, managing, probing
from app.intake.ingestion_jobs.models import IngestionJob as IngestionJobRow
from app.intake.ingestion_jobs.schemas import IngestionJob
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("connectors", description="Connections to sources of documents.")
_READ_PERMISSION, _MANAGE_PERMISSION = "connectors:read", "connectors:manage"


@blueprint.get(
    "/connectors",
    permission=_READ_PERMISSION,
    query=Listing(
        sort_keys=("-created_at", "name"), filters=schemas.ConnectorFilters, has_period=True
    ),
    returns=schemas.Connector,
)
def list_connectors(caller: Caller, query: dict[str, Any]) -> Page:
    """List connectors.

    Returns connectors with their last crawl and the number of open alerts.
    """
    return managing.list_connectors(**query)


@blueprint.post(
    "/connectors",
    permission=_MANAGE_PERMISSION,
    body=schemas.CreateConnector,
    returns=schemas.Connector,
    status=201,
)
def create_connector(caller: Caller, body: dict[str, Any]) -> object:
    """Create a connector.

    The settings are validated against the JSON Schema of the type. Secrets are stored encrypted and
    are never returned. Test the connector before its first crawl.
    """
    return managing.create(created_by=caller.user_id, **body)


@blueprint.get(
    "/connectors/types",
    permission=_READ_PERMISSION,
    query=Listing(sort_keys=("type",)),
    returns=schemas.TypeOfConnector,
)
def list_connector_types(caller: Caller, query: dict[str, Any]) -> Page:
    """List connector types.

    Returns the types that this installation offers, each with the JSON Schema of its settings.
    """
    return managing.list_types(**query)


@blueprint.get("/connectors/{connector_id}", permission=_READ_PERMISSION, returns=schemas.Connector)
def get_connector(caller: Caller, connector_id: UUID) -> object:
    """Get a connector.

    Returns one connector with the names of its secrets, but not their values.
    """
    return managing.get(connector_id)


@blueprint.patch(
    "/connectors/{connector_id}",
    permission=_MANAGE_PERMISSION,
    body=schemas.UpdateConnector,
    returns=schemas.Connector,
    revision="optional",
)
def update_connector(
    caller: Caller, connector_id: UUID, body: dict[str, Any], revision: int | None
) -> object:
    """Update a connector.

    Changes the name, settings, schema, schedule or patterns, or enables or disables the connector.
    If the host or account in the settings changes, the secrets must be sent again. Resumes a
    suspended schedule, closes its alert, and counts failed crawls from zero again.
    """
    return managing.update(connector_id, revision=revision, **body)


@blueprint.delete("/connectors/{connector_id}", permission=_MANAGE_PERMISSION, revision="optional")
def delete_connector(caller: Caller, connector_id: UUID, revision: int | None) -> None:
    """Delete a connector.

    Cancels the connector's crawl. The ingestion jobs of the connector and the documents that they
    have imported are kept.
    """
    managing.delete(connector_id, revision=revision)


@blueprint.post(
    "/connectors/{connector_id}/test", permission=_MANAGE_PERMISSION, returns=schemas.ConnectorTest
)
def test_connector(caller: Caller, connector_id: UUID) -> object:
    """Test a connector.

    Connects to the source, and returns its first entries or the error. Waits for at most 10
    seconds.
    """
    return probing.test(connector_id)


@blueprint.get(
    "/connectors/{connector_id}/browse",
    permission=_MANAGE_PERMISSION,
    query=schemas.BrowseQuery,
    returns=schemas.ConnectorEntries,
)
def browse_connector(caller: Caller, connector_id: UUID, query: dict[str, Any]) -> object:
    """Browse a connector.

    Returns the first entries of a folder in the source, and whether a crawl would read each
    document. Responds with 409 `conflict` and `details.kind` if the source cannot be read.
    """
    return probing.browse(connector_id, **query)


@blueprint.post(
    "/connectors/{connector_id}/crawl",
    permission=_MANAGE_PERMISSION,
    limit="crawl",
    returns=IngestionJob,
    status=202,
)
def crawl_connector(caller: Caller, connector_id: UUID) -> IngestionJobRow:
    """Crawl a connector.

    Queues an ingestion job that reads the documents that are new or have changed since the last
    crawl. Responds with 409 `conflict` and `details.job_id` if another crawl of the connector is
    queued or running, or with `details.state` if the connector is disabled.
    """
    return managing.crawl(connector_id, created_by=caller.user_id)


@blueprint.get(
    "/connectors/{connector_id}/alerts",
    permission=_READ_PERMISSION,
    query=Listing(sort_keys=("-created_at",), filters=schemas.AlertFilters, has_period=True),
    returns=schemas.AlertOfConnector,
)
def list_connector_alerts(caller: Caller, connector_id: UUID, query: dict[str, Any]) -> Page:
    """List the alerts of a connector.

    A connector has at most one open alert of each `kind`. A successful crawl closes all alerts of
    the connector. An update that resumes the schedule closes the alert `quarantined`.
    """
    return alerts.list_alerts(connector_id, **query)


@blueprint.post(
    "/connectors/{connector_id}/alerts/{alert_id}/acknowledge",
    permission=_MANAGE_PERMISSION,
    returns=schemas.AlertOfConnector,
)
def acknowledge_connector_alert(
    caller: Caller, connector_id: UUID, alert_id: UUID
) -> models.ConnectorAlert:
    """Acknowledge an alert.

    Records the first user who acknowledges the alert. The alert stays open.
    """
    return alerts.acknowledge(connector_id, alert_id, user_id=caller.user_id)
