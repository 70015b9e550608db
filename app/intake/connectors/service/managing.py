"""Service functions to create, read, update and delete connectors, and to start crawls."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack
from uuid import UUID

from app.engines.sources.model import SourceType
from app.engines.sources.registry import TYPES
from app.intake.connectors.models import Connector
from app.intake.connectors.queries import objects, records
from app.intake.connectors.queries.records import ConnectorFilters, ConnectorRow
from app.intake.connectors.service import alerts
from app.intake.connectors.service.globs import MAX_PATTERN_LENGTH, MAX_PATTERNS
from app.intake.connectors.service.scheduling import (
    check_schedule,
    compute_crawl_times,
    start_crawl,
)
from app.intake.ingestion_jobs.models import IngestionJob
from app.intake.ingestion_jobs.service import requests
from app.kit import container, db, errors, jobs, plan_limits, tenancy, typed_settings, url_queries
from app.kit.pagination import Page, PageRequest, paginate_values
from app.kit.plan_limits import Meter
from app.kit.typed_settings import ValidatedSettings
from app.schemas.artifact_schemas.service import drafts as artifact_schemas

DELETE_OBJECTS_JOB = "connectors.forget"
"""The name of the job that deletes the records of a deleted connector's crawled documents."""
_DELETE_BATCH_SIZE = 1000


class ConnectorProperties(TypedDict, total=False):
    """The properties to set in a new or existing connector; omitted properties stay unchanged."""

    name: str
    settings: dict[str, Any]
    schema_id: UUID | None
    enabled: bool
    schedule: str | None
    include: Sequence[str]
    exclude: Sequence[str]


def list_connectors(*, page: PageRequest, **filters: Unpack[ConnectorFilters]) -> Page:
    """Return a page of connectors that match the filters, each with its last crawl."""
    rows_page = records.list_connectors(page, filters)
    return replace(rows_page, items=list(map(_hide_secrets, rows_page.items)))


def list_types(*, page: PageRequest) -> Page:
    """Return a page of the connector types that this installation offers."""
    types = _get_types()
    names_page = paginate_values(page, type=list(types))
    return replace(names_page, items=[types[row.type] for row in names_page.items])


def _get_types() -> dict[str, SourceType]:
    """Return the offered types by name; `local` only if the operator has configured a folder."""
    has_local_root = bool(container.settings().connector_local_root)
    return {name: type_ for name, type_ in TYPES.items() if name != "local" or has_local_root}


def _check_type(name: str) -> SourceType:
    """Check that a connector type is offered, and return it. Raises 400 if it is not offered."""
    types = _get_types()
    if name not in types:
        message = f"This type is not available. Available types: {', '.join(types)}."
        raise errors.invalid(message, "type", supported=list(types))
    return types[name]


def get(connector_id: UUID) -> ConnectorRow:
    """Return a connector with its last crawl and secret names. Raises 404 if it does not exist."""
    db.session().flush()
    return _hide_secrets(errors.require_found(records.find_row(connector_id)))


def create(
    *,
    type: str,  # noqa: A002 - the name of the property
    created_by: UUID | None,
    **properties: Unpack[ConnectorProperties],
) -> ConnectorRow:
    """Create a connector and return it. `properties` must include `name` and `settings`.

    Raises 400 `validation_error` if a property is invalid, and 402 `plan_limit_reached` if the plan
    allows no more connectors.
    """
    connector = Connector(type=type, settings={}, enabled=True, created_by=created_by)
    _apply_changes(connector, properties)
    plan_limits.reserve(Meter.CONNECTORS)
    db.session().add(connector)
    connector.organization_id = tenancy.current_organization_id()
    connector.next_crawl_at, connector.stale_at = compute_crawl_times(connector)
    db.session().flush()
    return get(connector.id)


def update(
    connector_id: UUID, *, revision: int | None, **changes: Unpack[ConnectorProperties]
) -> ConnectorRow:
    """Update those properties of a connector that are in `changes`, and return the connector.

    `settings` replaces all settings. If it contains no secrets, the stored secrets are kept; this
    requires that settings such as host, port and account stay the same. If the settings change, an
    unfinished crawl lists the new source from its beginning; the crawl itself detects the change. A
    crawl that is due stays due unless the schedule changes or the connector is disabled. Resumes a
    suspended schedule, and closes its alert. Raises 404 if the connector does not exist, 400 if a
    property is invalid, and 409 if `revision` is outdated.
    """
    connector = _lock_connector(connector_id, revision)
    old_schedule = (connector.schedule, connector.enabled)
    _apply_changes(connector, changes)
    is_rescheduled = old_schedule != (connector.schedule, connector.enabled)
    # Otherwise, a crawl that is due but has not started yet would be lost.
    if is_rescheduled or connector.next_crawl_at is None:
        connector.next_crawl_at, connector.stale_at = compute_crawl_times(connector)
    db.session().flush()
    alerts.resume(connector)
    return get(connector_id)


def delete(connector_id: UUID, *, revision: int | None) -> None:
    """Delete a connector and cancel its crawl; documents and jobs are kept.

    A job then deletes its object records. Raises 404 if the connector does not exist, and 409 if
    `revision` is outdated.
    """
    # The job is locked before the connector, in the same order as in a crawl.
    requests.cancel_crawls(connector_id)
    connector = _lock_connector(connector_id, revision)
    db.session().delete(connector)
    jobs.enqueue(
        DELETE_OBJECTS_JOB,
        {"connector_id": str(connector_id)},
        organization_id=connector.organization_id,
    )
    db.session().flush()


def delete_objects(connector_id: UUID) -> bool:
    """Delete a batch of a deleted connector's object records; return whether records may remain."""
    return objects.delete_batch(connector_id, _DELETE_BATCH_SIZE) == _DELETE_BATCH_SIZE


def crawl(connector_id: UUID, *, created_by: UUID | None) -> IngestionJob:
    """Crawl a connector: create the crawl job, and return it.

    Raises 404 if the connector does not exist, and 409 `conflict` with `details.state` if it is
    disabled, or with `details.job_id` if a crawl is queued or running.
    """
    connector = _lock_connector(connector_id)
    if not connector.enabled:
        raise errors.conflict("The connector is disabled. Enable it first.", state="disabled")
    return start_crawl(connector, created_by)


def _lock_connector(connector_id: UUID, revision: int | None = None) -> Connector:
    connector = errors.require_found(records.lock(connector_id))
    errors.check_revision(revision, connector.revision)
    return connector


def _apply_changes(connector: Connector, changes: ConnectorProperties) -> None:
    if "settings" in changes:
        _set_settings(connector, changes["settings"])
    schema_id, schedule = changes.get("schema_id"), changes.get("schedule")
    artifact_schemas.check_reference(schema_id)
    if "schedule" in changes:
        connector.schedule = None if schedule is None else check_schedule(schedule)
    if "include" in changes:
        connector.include_patterns = _check_patterns(changes["include"], "include")
    if "exclude" in changes:
        connector.exclude_patterns = _check_patterns(changes["exclude"], "exclude")
    for name, value in changes.items():
        if name in ("name", "schema_id", "enabled"):
            setattr(connector, name, value)


def _set_settings(connector: Connector, new_settings: Mapping[str, Any]) -> None:
    stored_settings = ValidatedSettings(
        connector.settings, typed_settings.read_secrets(connector.credentials)
    )
    settings = typed_settings.merge_settings(
        _check_type(connector.type), stored_settings, new_settings, field="settings"
    )
    connector.settings = settings.public
    if settings.secrets != stored_settings.secrets:
        connector.credentials = typed_settings.encrypt_secrets(settings.secrets)
        connector.stored_secrets = sorted(settings.secrets)


def _check_patterns(patterns: Sequence[str], field: str) -> list[str]:
    if len(patterns) > MAX_PATTERNS:
        raise errors.invalid(f"There must be at most {MAX_PATTERNS} patterns.", field)
    for pattern in patterns:
        if not pattern.strip("/") or len(pattern) > MAX_PATTERN_LENGTH:
            message = f"A pattern must have 1 to {MAX_PATTERN_LENGTH} characters, not only slashes."
            raise errors.invalid(message, field)
    return list(dict.fromkeys(patterns))


def _hide_secrets(row: ConnectorRow) -> ConnectorRow:
    visible_settings = url_queries.build_visible_settings(row.settings, row.stored_secrets)
    return row._replace(
        settings=visible_settings.settings, stored_secrets=visible_settings.hidden_names
    )
