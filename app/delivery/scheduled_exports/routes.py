"""Routes for scheduled exports."""

from typing import Any
from uuid import UUID

from app.delivery.scheduled_exports.schemas import (
    CreateScheduledExport,
    ScheduledExport,
    ScheduledExportFilters,
    ScheduledExportRun,
    UpdateScheduledExport,
)
from app.delivery.scheduled_exports.service import managing, starting
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("scheduled-exports", description="Scheduled exports and file deliveries.")
_READ_ACCESS, _MANAGE_ACCESS = "scheduled_exports:read", "scheduled_exports:manage"


@blueprint.get(
    "/exports/scheduled",
    permission=_READ_ACCESS,
    query=Listing(
        sort_keys=("-created_at", "name"), filters=ScheduledExportFilters, has_period=True
    ),
    returns=ScheduledExport,
)
def list_scheduled_exports(caller: Caller, query: dict[str, Any]) -> Page:
    """List scheduled exports.

    Returns scheduled exports, each with its last run and the time of its next run.
    """
    return managing.list_scheduled_exports(**query)


@blueprint.post(
    "/exports/scheduled",
    permission=_MANAGE_ACCESS,
    body=CreateScheduledExport,
    returns=ScheduledExport,
    status=201,
)
def create_scheduled_export(caller: Caller, body: dict[str, Any]) -> object:
    """Create a scheduled export.

    The export runs at the times given by `cron`, and each run delivers a file. `mode` sets whether
    each run exports all tag sets or only recent changes. The secrets of the destination are stored
    encrypted and are never returned.
    """
    return managing.create(created_by=caller.user_id, **body)


@blueprint.get("/exports/scheduled/{export_id}", permission=_READ_ACCESS, returns=ScheduledExport)
def get_scheduled_export(caller: Caller, export_id: UUID) -> object:
    """Get a scheduled export.

    Returns the scheduled export with its last run and the time of its next run.
    """
    return managing.get(export_id)


@blueprint.patch(
    "/exports/scheduled/{export_id}",
    permission=_MANAGE_ACCESS,
    body=UpdateScheduledExport,
    returns=ScheduledExport,
    revision="optional",
)
def update_scheduled_export(
    caller: Caller, export_id: UUID, body: dict[str, Any], revision: int | None
) -> object:
    """Update a scheduled export.

    Changes the given properties, such as `paused`. If the format, filter, options, `include` or
    mode changes, the next incremental run exports everything.
    """
    return managing.update(export_id, revision=revision, **body)


@blueprint.delete("/exports/scheduled/{export_id}", permission=_MANAGE_ACCESS, revision="optional")
def delete_scheduled_export(caller: Caller, export_id: UUID, revision: int | None) -> None:
    """Delete a scheduled export.

    Deletes the scheduled export and the history of its runs. The files of its runs can still be
    downloaded until they expire. Files that have not been delivered yet are not delivered.
    """
    managing.delete(export_id, revision=revision)


@blueprint.post(
    "/exports/scheduled/{export_id}/run",
    permission="exports:create",
    returns=ScheduledExportRun,
    status=202,
)
def run_scheduled_export(caller: Caller, export_id: UUID) -> object:
    """Run a scheduled export now.

    Starts a run outside the schedule, even if the export is paused. Responds with 409 `conflict` if
    another run has not ended; `details.job_id` is the id of that run's export job.
    """
    return starting.run_now(export_id, created_by=caller.user_id, api_key_id=caller.api_key_id)


@blueprint.get(
    "/exports/scheduled/{export_id}/runs",
    permission=_READ_ACCESS,
    query=Listing(sort_keys=("-created_at",), has_period=True),
    returns=ScheduledExportRun,
)
def list_scheduled_export_runs(caller: Caller, export_id: UUID, query: dict[str, Any]) -> Page:
    """List the runs of a scheduled export.

    Returns past and present runs, each with its export job and the delivery of its file.
    """
    return starting.list_runs(export_id, **query)
