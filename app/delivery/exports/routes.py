"""Routes for exports."""

from typing import Any
from uuid import UUID

from app.delivery.exports import models
from app.delivery.exports.audit_schemas import ExportAuditEntry, ExportAuditFilters
from app.delivery.exports.schemas import (
    CreateExport,
    Export,
    ExportFilters,
    ExportManifest,
    ExportPreview,
    PreviewExport,
)
from app.delivery.exports.service import controlling, creating, manifests, previewing, reading
from app.engines.formats import FORMATS
from app.kit.api.blueprint import Blueprint, File, Listing
from app.kit.api.responses import Download
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("exports", description="Exports of tag sets to files.")

# JSON comes last, because some generated clients parse every file as the first media type.
_MEDIA_TYPES = {format_.media_type for format_ in FORMATS.values()}
_FILE = File(tuple(sorted(_MEDIA_TYPES, key=lambda name: (name == "application/json", name))))


@blueprint.get(
    "/exports",
    permission="exports:read",
    query=Listing(sort_keys=("-created_at",), filters=ExportFilters, has_period=True),
    returns=Export,
)
def list_exports(caller: Caller, query: dict[str, Any]) -> Page:
    """List exports.

    Returns export jobs, optionally filtered by status, format and creation time.
    """
    return reading.list_exports(**query)


@blueprint.post(
    "/exports",
    permission="exports:create",
    limit="create_export",
    body=CreateExport,
    returns=Export,
    status=202,
)
def create_export(caller: Caller, body: dict[str, Any]) -> models.Export:
    """Create an export.

    Queues a job that writes the selected tag sets to a file in the given format. `filter` selects
    tag sets. `include` selects which of the matching tag sets of each document are exported, and
    which parts of each tag set. `options` sets the options of the format.
    """
    return creating.create(**body, created_by=caller.user_id, api_key_id=caller.api_key_id)


@blueprint.get("/exports/{job_id}", permission="exports:read", returns=Export)
def get_export(caller: Caller, job_id: UUID) -> models.Export:
    """Get an export.

    Returns one export job with its status and progress, and, once it is completed, the row count,
    size, checksum and expiry of its file.
    """
    return reading.get(job_id)


@blueprint.get(
    "/exports/{job_id}/download", permission="exports:download", returns=_FILE, writes=True
)
def download_export(caller: Caller, job_id: UUID) -> Download:
    """Download an export.

    Returns the file of a completed export, or a range of the file. Responds with 409 `conflict` if
    the export has no file; `details.state` is the status of the export, or `expired`. Each download
    adds an entry to the audit log. Range requests by one caller for the same file within an hour
    count as one download. If the operator has enabled `DOWNLOAD_LINKS`, the response is a redirect
    (307) to a signed link to the object store.
    """
    actor_id = caller.api_key_id or caller.user_id
    return reading.download(job_id, user_id=caller.user_id, actor_id=actor_id)


@blueprint.post("/exports/{job_id}/cancel", permission="exports:create", returns=Export, status=200)
def cancel_export(caller: Caller, job_id: UUID) -> models.Export:
    """Cancel an export.

    Stops a queued or running job; no file is stored. If a job of a scheduled export is completed
    but its file has not been delivered yet, only the delivery is cancelled. Otherwise, responds
    with 409 `conflict` if the job has ended.
    """
    return controlling.cancel(job_id)


@blueprint.post("/exports/{job_id}/retry", permission="exports:create", returns=Export, status=202)
def retry_export(caller: Caller, job_id: UUID) -> models.Export:
    """Retry an export.

    Queues an export again if it has failed, or if its file has expired or is missing. The filter,
    options and period stay the same. A retry does not count toward the hourly limit for exports.
    Responds with 409 `conflict` for all other exports.
    """
    return controlling.retry(job_id)


@blueprint.get("/exports/{job_id}/manifest", permission="exports:read", returns=ExportManifest)
def get_export_manifest(caller: Caller, job_id: UUID) -> dict[str, Any]:
    """Get the manifest of an export.

    Returns a description of the file of a completed export: filter, options, schema versions,
    counts, checksum and the version of this service. The manifest is kept after the file has
    expired.
    """
    return manifests.get_manifest(job_id)


@blueprint.get(
    "/exports/audit",
    permission="exports:audit",
    query=Listing(sort_keys=("-at",), filters=ExportAuditFilters, has_period=True),
    returns=ExportAuditEntry,
)
def list_export_audit(caller: Caller, query: dict[str, Any]) -> Page:
    """List export audit entries.

    Returns an entry for each creation, download, cancellation and retry of an export, for each
    status change by a worker, and for each deleted file; newest first.
    """
    return reading.list_audit_entries(**query)


@blueprint.post(
    "/exports/preview",
    permission="exports:create",
    body=PreviewExport,
    returns=ExportPreview,
    status=200,
    writes=False,
)
def preview_export(caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
    """Preview an export.

    Returns the first rows that an export with this request would contain, and the total number of
    tag sets, without creating a job. A total above 10,000 is exact only if the filter has no
    properties other than `schema_id` and `statuses`, and `include.tags` is `accepted` or `all`;
    otherwise, counting stops at 10,000.
    """
    return previewing.preview(**body)
