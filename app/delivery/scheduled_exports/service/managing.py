"""Service functions to create, read, update and delete scheduled exports."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Unpack
from uuid import UUID

from app.delivery.exports.service import creating
from app.delivery.exports.service.creating import ExportParameters, ExportRequest
from app.delivery.scheduled_exports.models import Mode, ScheduledExport
from app.delivery.scheduled_exports.queries import records, runs
from app.delivery.scheduled_exports.queries.records import ScheduledExportFilters
from app.delivery.scheduled_exports.queries.runs import RunRecord
from app.delivery.scheduled_exports.service import destinations, periods
from app.delivery.scheduled_exports.service.describing import RunDetails, build_run_response
from app.engines.formats import FORMATS
from app.identity.organizations import service as organizations
from app.kit import cron, db, errors, locales, tenancy, typed_settings, url_queries
from app.kit.pagination import Page, PageRequest
from app.kit.typed_settings import ValidatedSettings

MIN_INTERVAL = timedelta(minutes=15)
"""The minimum time between two scheduled runs of a scheduled export."""


class StoredDestination(NamedTuple):
    """The destination of a scheduled export, with the names of its hidden settings."""

    kind: str
    settings: dict[str, Any]
    stored_secrets: list[str]


class ScheduledExportDetails(NamedTuple):
    """A scheduled export with its last run, and without secrets."""

    id: UUID
    name: str
    format: str
    filter: dict[str, Any]
    options: dict[str, Any]
    include: dict[str, Any]
    cron: str
    time_zone: str
    mode: str
    paused: bool
    next_run_at: datetime | None
    exported_until: datetime | None
    created_by: UUID | None
    created_at: datetime
    updated_at: datetime
    revision: int
    destination: StoredDestination
    last_run: RunDetails | None


def list_scheduled_exports(*, page: PageRequest, **filters: Unpack[ScheduledExportFilters]) -> Page:
    """Return a page of scheduled exports that match the filters, each with its last run."""
    export_page = records.list_scheduled_exports(page, **filters)
    latest_runs = runs.get_latest_runs([export.id for export in export_page.items])
    return replace(
        export_page,
        items=[_build_response(export, latest_runs.get(export.id)) for export in export_page.items],
    )


def get(export_id: UUID) -> ScheduledExportDetails:
    """Return a scheduled export with its last run. Raises 404 if it does not exist."""
    export = errors.require_found(records.get(export_id))
    return _build_response(export, runs.get_latest_runs([export_id]).get(export_id))


def create(
    *,
    name: str,
    cron_expression: str,
    time_zone: str | None = None,
    mode: str = Mode.FULL,
    destination: Mapping[str, Any],
    paused: bool = False,
    created_by: UUID | None,
    **parameters: Unpack[ExportParameters],
) -> ScheduledExportDetails:
    """Create a scheduled export and return it. Raises 400 if the request is invalid."""
    export = ScheduledExport(
        organization_id=tenancy.current_organization_id(), created_by=created_by
    )
    export.name, export.mode, export.paused = name, mode, paused
    creating.check_references(parameters["filter_"])
    _set_request(export, parameters)
    _set_schedule(export, cron_expression, time_zone)
    _set_destination(export, destination)
    _set_next_run(export)
    db.session().add(export)
    db.session().flush()
    return get(export.id)


def update(export_id: UUID, *, revision: int | None, **changes: object) -> ScheduledExportDetails:
    """Update the given properties of a scheduled export, and return it.

    `destination` replaces the current destination. If it contains no secrets, the stored secrets
    are kept; this requires that the host and account stay the same. If the format, filter, options,
    `include` or mode changes, the next incremental run exports everything. A run that is due stays
    due unless the schedule changes or the export is paused.

    Raises 400 if a change is invalid, 404 if the scheduled export does not exist, and 409 if
    `revision` is outdated.
    """
    export = _lock_scheduled_export(export_id, revision)
    # All changes together create one new revision.
    with db.session().no_autoflush:
        _apply_changes(export, changes)
    db.session().flush()
    return get(export_id)


def _apply_changes(export: ScheduledExport, changes: Mapping[str, Any]) -> None:
    old_schedule = (export.cron, export.time_zone, export.paused)
    for name in ("name", "paused"):
        if name in changes:
            setattr(export, name, changes[name])
    _apply_request_changes(export, changes)
    if "cron_expression" in changes or "time_zone" in changes:
        zone = changes.get("time_zone", export.time_zone)
        _set_schedule(export, changes.get("cron_expression", export.cron), zone)
    if "destination" in changes:
        _set_destination(export, changes["destination"])
    is_rescheduled = old_schedule != (export.cron, export.time_zone, export.paused)
    # If the schedule is unchanged, the next run is kept, so that a run that is due is not lost.
    if is_rescheduled or export.next_run_at is None:
        _set_next_run(export)


def delete(export_id: UUID, *, revision: int | None) -> None:
    """Delete a scheduled export and the records of its runs; the export jobs are kept.

    Raises 404 if the scheduled export does not exist, and 409 if `revision` is outdated.
    """
    db.session().delete(_lock_scheduled_export(export_id, revision))
    db.session().flush()


def _lock_scheduled_export(export_id: UUID, revision: int | None) -> ScheduledExport:
    export = errors.require_found(records.get(export_id, lock=True))
    errors.check_revision(revision, export.revision)
    return export


def _apply_request_changes(export: ScheduledExport, changes: Mapping[str, Any]) -> None:
    request_keys = ("format_id", "filter_", "options", "include", "mode")
    if changes.keys().isdisjoint(request_keys):
        return
    if "filter_" in changes:  # the stored filter may refer to a deleted document
        creating.check_references(changes["filter_"])
    old_values = (export.format, export.filter, export.options, export.include, export.mode)
    export.mode = changes.get("mode", export.mode)
    parameters = {
        "format_id": export.format,
        "filter_": periods.parse_filter(export.filter),
        "options": export.options,
        "include": export.include,
    }
    if changes.get("format_id", export.format) != export.format:
        # Options and default parts depend on the format.
        parameters |= {"options": {}, "include": {"tags": export.include["tags"]}}
    _set_request(export, {name: changes.get(name, value) for name, value in parameters.items()})
    if old_values != (export.format, export.filter, export.options, export.include, export.mode):
        export.exported_until = None


def _set_request(export: ScheduledExport, parameters: Mapping[str, Any]) -> None:
    request = creating.validate_request(**parameters, compute_end=_default_to_open_end)
    for name in ("created", "decided"):
        creating.check_start(parameters["filter_"], name, records.get_transaction_time())
    if export.mode == Mode.INCREMENTAL:
        _check_incremental(request)
    export.format, export.options, export.include = (
        request.format,
        request.options,
        request.include,
    )
    export.filter = periods.remove_open_ends(request.filter)


def _default_to_open_end(requested_end: datetime | None) -> datetime:
    """Return the requested end of a period, or the placeholder OPEN_END if there is none."""
    return periods.OPEN_END if requested_end is None else requested_end


def _check_incremental(request: ExportRequest) -> None:
    if request.include["tags"] != "accepted":
        message = "For an incremental export, `include.tags` must be `accepted`."
        raise errors.invalid(message, "include.tags")
    for name in ("decided_after", "decided_before", "created_after", "created_before"):
        if request.filter[name] is not None:
            message = f"An incremental export sets its own period. Omit `filter.{name}`."
            raise errors.invalid(message, f"filter.{name}")
    if not FORMATS[request.format].keeps_removed:
        format_ids = ", ".join(name for name, format_ in FORMATS.items() if format_.keeps_removed)
        message = f"For an incremental export, the format must be one of these: {format_ids}."
        raise errors.invalid(message, "mode")


def _set_schedule(export: ScheduledExport, expression: str, time_zone: str | None) -> None:
    export.cron = cron.check_expression(expression, field="cron", min_interval=MIN_INTERVAL)
    if time_zone is None:
        export.time_zone = organizations.get_time_zone(export.organization_id)
    else:
        export.time_zone = locales.check_time_zone(time_zone, "time_zone")


def _set_destination(export: ScheduledExport, destination: Mapping[str, Any]) -> None:
    kind = destination["kind"]
    stored_secrets = typed_settings.read_secrets(export.credentials)
    stored_settings = ValidatedSettings({}, {})
    if kind == export.destination:
        stored_settings = ValidatedSettings(export.settings, stored_secrets)
    settings = destinations.check_destination(kind, destination["settings"], stored_settings)
    export.destination, export.settings = kind, settings.public
    # `read_secrets` returns {} for secrets that cannot be decrypted, but they must be removed.
    if not settings.secrets or settings.secrets != stored_secrets:
        export.credentials = typed_settings.encrypt_secrets(settings.secrets)
    export.stored_secrets = sorted(settings.secrets)


def _set_next_run(export: ScheduledExport) -> None:
    """Set the next run to the first scheduled time after now, or to None if the export is paused.

    Runs that were missed during a pause are not started.
    """
    next_run_at = cron.find_next(export.cron, export.time_zone, records.get_transaction_time())
    export.next_run_at = None if export.paused else next_run_at


def _build_response(
    export: ScheduledExport, latest_run: RunRecord | None
) -> ScheduledExportDetails:
    values = {name: getattr(export, name) for name in ScheduledExportDetails._fields[:-2]}
    visible_settings = url_queries.build_visible_settings(export.settings, export.stored_secrets)
    destination = StoredDestination(
        export.destination, visible_settings.settings, visible_settings.hidden_names
    )
    last_run = None if latest_run is None else build_run_response(*latest_run)
    return ScheduledExportDetails(**values, destination=destination, last_run=last_run)
