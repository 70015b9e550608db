"""Read access to export jobs, their files and their audit trail."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from app.delivery.exports import emitted_events
from app.delivery.exports.models import Export, ExportStatus
from app.delivery.exports.queries import records
from app.engines.formats import FORMATS
from app.identity.audit import service as audit
from app.kit import db, errors, events
from app.kit.api.responses import Download
from app.kit.errors import ApiError
from app.kit.pagination import Page, PageRequest
from app.kit.stored_files import build_linked_download

RANGE_REQUESTS_PERIOD = timedelta(hours=1)
"""The period in which range requests by one caller for the same file count as one download."""

list_exports = records.list_exports


class ExportAuditEntry(NamedTuple):
    """An audit entry about the export job `job_id`."""

    id: UUID
    at: datetime
    actor: dict[str, Any]
    action: str
    job_id: UUID
    format: str
    changes: dict[str, Any]
    request_id: str | None
    ip_address: str | None


def get(export_id: UUID) -> Export:
    """Return the export with this id. Raises 404 if the current organization has no such export."""
    return errors.require_found(records.get(export_id))


def list_audit_entries(*, page: PageRequest, job_id: UUID | None = None, **filters: object) -> Page:
    """Return a page of audit entries for all exports, or for one export if `job_id` is given."""
    if job_id is not None:
        filters["target_id"] = job_id
    entries = audit.list_entries(page, {**filters, "target_type": "exports"})
    items = [
        ExportAuditEntry(
            id=entry.id,
            at=entry.at,
            actor=entry.actor,
            action=entry.action,
            job_id=entry.target["id"],
            format=entry.target["label"],
            changes=entry.changes,
            request_id=entry.request_id,
            ip_address=entry.ip_address,
        )
        for entry in entries.items
    ]
    return replace(entries, items=items)


def download(export_id: UUID, *, user_id: UUID, actor_id: UUID) -> Download:
    """Return a download response for the file of an export.

    The download is recorded when the response is sent. Raises 404 if the export does not exist, and
    409 with `details.state` if the export has no file. The state is the export's status or
    `expired`. Raises 503 while the file storage is unavailable.
    """
    export = get(export_id)
    if export.status != ExportStatus.COMPLETED:
        message = f"The export is {export.status}; only completed exports have a file."
        raise errors.conflict(message, state=export.status)
    if not export.storage_key or not export.expires_at or export.expires_at <= db.utc_now():
        raise _build_expired_error()
    assert export.size_bytes is not None, "the completed export has no file size"
    assert export.sha256 is not None
    format_ = FORMATS[export.format]
    return build_linked_download(
        export.storage_key,
        size=export.size_bytes,
        media_type=format_.media_type,
        name=f"export-{export.id}.{format_.extension}",
        sha256=export.sha256,
        build_missing_error=_build_expired_error,
        on_send=lambda is_range: _record_download(export_id, user_id, actor_id, is_range=is_range),
    )


def _record_download(export_id: UUID, user_id: UUID, actor_id: UUID, *, is_range: bool) -> None:
    """Record a download of an export's file and write an audit entry.

    A request for a range is not recorded if the same actor has downloaded the file within
    `RANGE_REQUESTS_PERIOD`. Emits `export.downloaded`.
    """
    export = records.lock(export_id)
    assert export is not None, "the request handler has already read the export"
    if is_range:
        entries = audit.select_entries("exports", export_id)
        if records.was_downloaded(entries, actor_id, period=RANGE_REQUESTS_PERIOD):
            return
    records.increment_download_count(export_id)
    events.emit(
        emitted_events.DOWNLOADED,
        emitted_events.DownloadedPayload(
            job_id=export.id, format=export.format, sha256=export.sha256, user_id=user_id
        ),
    )


def _build_expired_error() -> ApiError:
    message = "The file of this export has expired. Retry the export, or create a new export."
    return errors.conflict(message, state="expired")
