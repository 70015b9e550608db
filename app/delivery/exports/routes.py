"""Routes of exports."""

from typing import Any
from uuid import UUID

from app.delivery.exports import models
from app.delivery.exports.schemas import (
    CreateExport,
    Export,
    ExportAuditEntry,
    ExportAuditFilters,
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

# JSON comes last: some generated clients read every file in the way of the first type.
_MEDIA_TYPES = {format_.media_type for format_ in FORMATS.values()}
_FILE = File(tuple(sorted(_MEDIA_TYPES, key=lambda name: (name == "application/json", name))))


@blueprint.get(
    "/exports",
    permission="exports:read",
    query=Listing(sorts=("-created_at",), filters=ExportFilters),
    returns=Export,
)
def list_exports(caller: Caller, query: dict[str, Any]) -> Page:
    """List exports.

    Returns export jobs, optionally filtered by status, format and time of creation.
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
    the tag sets, `include` which of them per document and which parts of each, `options` the
    options of the format.
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

    Returns the file of a completed export, or a range of it. Responds with 409 `conflict` if there
    is no file (yet, or any more); `details.state` is the status of the export, or `expired`. Each
    download adds an entry to the audit log. Ranges of one file that one caller requests within an
    hour count as one download. If the operator has switched on `DOWNLOAD_LINKS`, the response is a
    redirect (307) to a signed link of the object store.
    """
    actor_id = caller.api_key_id or caller.user_id
    return reading.download(job_id, user_id=caller.user_id, actor_id=actor_id)


@blueprint.post("/exports/{job_id}/cancel", permission="exports:create", returns=Export, status=200)
def cancel_export(caller: Caller, job_id: UUID) -> models.Export:
    """Cancel an export.

    Ends a queued or running job; it leaves no file. Responds with 409 `conflict` if the job has
    ended.
    """
    return controlling.cancel(job_id)


@blueprint.post("/exports/{job_id}/retry", permission="exports:create", returns=Export, status=202)
def retry_export(caller: Caller, job_id: UUID) -> models.Export:
    """Retry an export.

    Queues a failed export again, or one whose file has expired, with the same filter, options and
    period. Does not count towards the limit of exports per hour.
    """
    return controlling.retry(job_id)


@blueprint.get("/exports/{job_id}/manifest", permission="exports:read", returns=ExportManifest)
def get_export_manifest(caller: Caller, job_id: UUID) -> dict[str, Any]:
    """Get the manifest of an export.

    Returns what the file of a completed export holds: filter, options, schema versions, counts,
    checksum and the version of this service. It remains after the file has expired.
    """
    return manifests.get_manifest(job_id)


@blueprint.get(
    "/exports/audit",
    permission="exports:audit",
    query=Listing(sorts=("-at",), filters=ExportAuditFilters),
    returns=ExportAuditEntry,
)
def list_export_audit(caller: Caller, query: dict[str, Any]) -> Page:
    """List the audit trail of exports.

    Returns who created, downloaded, cancelled or retried which export, and when files were written
    and deleted; newest first.
    """
    return reading.list_audit(**query)


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

    Returns the first rows that an export with this request would have, and the number of all tag
    sets, without creating a job. Numbers beyond 10,000 are exact only if no other filter than
    `schema_id` and `statuses` is used.
    """
    return previewing.preview(**body)
